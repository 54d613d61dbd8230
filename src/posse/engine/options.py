"""The options of an engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from posse.engine.queue.backlog import USUAL_BACKOFF, Backoff
from posse.engine.rules.plugin_guard import PluginFaults
from posse.engine.rules.profile import Profile
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.model.feature_gates import ALL_GATES, Gates

DEFAULT_SCHEDULER = "default-scheduler"


@dataclass(frozen=True, slots=True)
class EngineOptions:
    profiles: Mapping[str, Profile] = field(default_factory=lambda: {DEFAULT_SCHEDULER: DEFAULT_PROFILE})
    """By scheduler name; pods that name another scheduler are ignored."""
    backoff: Backoff = USUAL_BACKOFF
    faults: PluginFaults = field(default_factory=PluginFaults)
    """Faults of plugins among the rules of the profiles."""
    gates: Gates = ALL_GATES
    members_must_match: bool = False
    """Refuse groups whose members have another priority; otherwise the group's priority counts."""
    reserves: bool = True
    """Whether capacity is reserved for groups that have waited long."""
    asks: bool = False
    """Whether an exact solver is available: then `decide` may ask it, and waits for its answer."""
    effort: float = 10.0
    """Effort limit of an exact search, in about seconds of one core."""
