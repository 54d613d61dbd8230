"""Options of a scheduler for a real cluster; separate from it, so that reading them loads little."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from posse.model.feature_gates import ALL_GATES, Gates
from posse.runtime.process.options import DEFAULT_EXACT_SEARCH, DEFAULT_RECORD_MAX

DEFAULT_SCHEDULER_NAME = "posse"
DEFAULT_PORT = 10259
DEFAULT_WRITES_AT_ONCE = 64


class GroupApi(StrEnum):
    """Which kinds may describe groups."""

    AUTO = "auto"
    NATIVE = "native"
    CRD = "crd"


class SetController(StrEnum):
    """What Posse can control in a cluster, besides scheduling pods."""

    JOB_SETS = "jobsets"
    LEADER_WORKER_SETS = "leaderworkersets"


@dataclass(frozen=True, slots=True)
class RunOptions:
    kubeconfig: Path | None = None
    context: str | None = None
    # A KubeSchedulerConfiguration; it says which scheduler names there are.
    config: Path | None = None
    # Without a configuration: the names that the default profile answers to.
    scheduler_names: tuple[str, ...] = (DEFAULT_SCHEDULER_NAME,)
    record: Path | None = None
    """The directory to record to, if any."""
    record_max: int = DEFAULT_RECORD_MAX
    gates: Gates = ALL_GATES
    # What an exact search may take, in about seconds of one core; 0 if none is to be made.
    exact_search: float = DEFAULT_EXACT_SEARCH
    form: GroupApi = GroupApi.AUTO
    controllers: tuple[SetController, ...] = ()
    # Else it only controls.
    schedules: bool = True
    # Whether it looks at volumes, claims and what belongs to them.
    volumes: bool = True
    provisioning_requests: bool = False
    """Whether cluster autoscalers are asked for the nodes that waiting groups lack."""
    # None: as the configuration says, else yes.
    leader_elect: bool | None = None
    dry_run: bool = False
    # Look on while another scheduler schedules for these names.
    shadow: bool = False
    # How many writes are under way at once.
    writes_at_once: int = DEFAULT_WRITES_AT_ONCE
    # None: every interface inside a pod, where probes come from outside; else this machine only.
    bind_address: str | None = None
    port: int = DEFAULT_PORT
    has_page: bool = False
    """Whether a page for the browser is served on this machine."""
