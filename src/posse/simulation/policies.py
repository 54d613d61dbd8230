"""Policies that are compared on one trace: how jobs reach the engine, and with which options it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from posse.configuration.reading import read_configuration
from posse.configuration.shapes import API_VERSION, KIND
from posse.engine.options import DEFAULT_SCHEDULER, EngineOptions
from posse.engine.queue.backlog import Backoff
from posse.simulation.jobs import GPU


@dataclass(frozen=True, slots=True)
class Policy:
    name: str
    options: EngineOptions
    blocks: bool = False
    """A job that does not fit holds up all that came after it."""
    topology_key: str = ""
    """Gangs must be in one domain of this label."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Of all gangs, such as the topology that they prefer."""
    scheduler: str = DEFAULT_SCHEDULER


def named_policies() -> dict[str, Policy]:
    """`fifo` and `greedy` are yardsticks: they reserve nothing, and try again whenever capacity is freed."""
    packed = _best_fit()
    at_once = replace(packed, backoff=Backoff(0.0, 0.0))
    plain = replace(at_once, reserves=False)
    return {
        "posse": Policy("posse", EngineOptions()),
        "packed": Policy("packed", packed),
        "fifo": Policy("fifo", plain, blocks=True),
        "greedy": Policy("greedy", plain),
        "backfill": Policy("backfill", _queued_by(at_once, "backfill")),
        "shortest-expected": Policy("shortest-expected", _queued_by(at_once, "shortest-expected")),
    }


def configured_policy(name: str, options: EngineOptions) -> Policy:
    """The rules of a configuration file; jobs name its first profile."""
    return Policy(name, options, scheduler=next(iter(options.profiles)))


def _queued_by(options: EngineOptions, policy: str) -> EngineOptions:
    profiles = {name: replace(one, queue_policy=policy) for name, one in options.profiles.items()}
    return replace(options, profiles=profiles)


def _best_fit() -> EngineOptions:
    """The fullest node on which a pod fits, by GPUs; nothing else counts."""
    strategy = {"type": "MostAllocated", "resources": [{"name": GPU, "weight": 1}]}
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "profiles": [
            {
                "plugins": {
                    "score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]},
                },
                "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}],
            }
        ],
    }
    return read_configuration(document, {}).options
