"""A pod as the engine knows it."""

from dataclasses import dataclass, field

from posse.engine.causes import Refusal
from posse.engine.decisions import VolumeStep
from posse.engine.devices.proposals import Held
from posse.engine.keys import GroupKey, PodRef
from posse.engine.nodes.arrays import IntArray
from posse.engine.pods.census import LabelClass
from posse.engine.pods.pod_class import PodClass
from posse.engine.state.pod_owners import PodOwners
from posse.engine.statement import NEVER_REPORTED, Reported
from posse.model.pod import Pod


@dataclass(slots=True, eq=False)
class PodRecord:
    """One pod that is neither finished nor deleted."""

    pod: Pod
    ref: PodRef
    pod_class: PodClass
    labels: LabelClass
    group: GroupKey | None
    created: str
    """RFC 3339 text, which sorts by time."""
    arrival: int
    """Order in which pods were first seen; breaks ties of creation time."""
    effective_priority: int
    """The priority that protects it: its group's, where it has one. Changed by `ClusterState.rank` alone."""
    owners: PodOwners = field(default_factory=PodOwners)
    """The pods that own others: one value for all pods of the cluster."""
    node: str = ""
    """The node it is attached to: bound there, or promised by a decision in flight."""
    volumes: tuple[VolumeStep, ...] = ()
    """Steps for its claims on that node, while its binding is in flight."""
    devices: Held | None = None
    """Devices that it had when it was detached, to be given back to it."""
    nominated: str = ""
    """The nominated node, where capacity is reserved for it."""
    evicted_for: str | GroupKey = ""
    """The preemptor, once its eviction is decided: the uid of a pod, or a group."""
    reported: Reported = NEVER_REPORTED
    """The last report in PodScheduled=False."""
    report_may_be_lost: bool = False
    """The report may be lost, and is repeated though it is unchanged."""
    queued_at: float = 0.0
    """When it first became ready to be tried; 0 until then."""
    attempts: int = 0
    refusals: tuple[Refusal, ...] = ()
    """Refusals of the last attempt."""

    @property
    def priority(self) -> int:
        return self.pod.spec.priority or 0

    @property
    def is_ending(self) -> bool:
        """Whether it is terminating, or its eviction is decided."""
        return bool(self.pod.metadata.deletion_timestamp or self.evicted_for)


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """Requests on all nodes, in the form of the node table's own columns."""

    requested: IntArray
    scoring: IntArray
    rows: list[int]
    """Rows with any requests."""
