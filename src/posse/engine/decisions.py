"""Decisions of the engine, in the imperative. Adapters carry them out; a refusal returns as an event.

What is there for each pod or group that starts is a Struct, which is quick to make.
"""

from dataclasses import dataclass, field

import msgspec

from posse.engine.keys import ClaimKey, GroupKey, GroupRef, PodRef
from posse.engine.placement_problem import PlacementProblem, RemedyProblem
from posse.engine.proof import Outcome
from posse.model.pod import ContainerExtendedResourceRequest
from posse.model.resource_claim import AllocationResult, ResourceClaimConsumerReference, ResourceClaimSpec


class Placement(msgspec.Struct, frozen=True, gc=False):
    """Attempts and time do not count in comparisons."""

    pod: PodRef
    node: str
    attempts: int = 1
    """How many attempts it took to find the node."""
    queued_at: float = 0.0
    """When the pod first became ready to be tried."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Placement):
            return NotImplemented
        return self.node == other.node and self.pod == other.pod

    def __hash__(self) -> int:
        return hash((self.pod, self.node))


@dataclass(frozen=True, slots=True)
class ExtendedResourceClaim:
    """A claim that is created for the extended resources of a pod; the pod's status names it."""

    pod: PodRef
    spec: ResourceClaimSpec
    mappings: tuple[ContainerExtendedResourceRequest, ...]


class ClaimAllocation(msgspec.Struct, frozen=True, gc=False):
    """Give the claim these devices, and reserve it for these pods and groups.

    A claim that has been allocated keeps its allocation, which is repeated here; only consumers are added.
    """

    claim: ClaimKey
    uid: str
    """Empty for a claim that is created."""
    allocation: AllocationResult
    """Without a timestamp, if it is new: the write adds it."""
    consumers: tuple[ResourceClaimConsumerReference, ...]
    """Those to add. The claim is written once for all pods that share it."""
    created: ExtendedResourceClaim | None = None


class Bind(msgspec.Struct, frozen=True, gc=False):
    """Bind all of these. They belong together when `group` is set.

    Their claims are written before, and if one of them fails, none of the pods is bound: the engine sees
    claims that were written, and uses or releases them.
    """

    placements: tuple[Placement, ...]
    group: GroupKey | None = None
    claims: tuple[ClaimAllocation, ...] = ()


@dataclass(frozen=True, slots=True)
class AllocateClaims:
    """Write the claims of these pods, which are bound later, once drivers have met the binding conditions.

    A failure refuses all of the placements.
    """

    placements: tuple[Placement, ...]
    claims: tuple[ClaimAllocation, ...]
    group: GroupKey | None = None


@dataclass(frozen=True, slots=True)
class ReleaseClaim:
    """Take the claim from pods and groups that did not start, if it is still as it was at that version."""

    claim: ClaimKey
    uid: str
    version: str
    consumers: tuple[ResourceClaimConsumerReference, ...]
    """Their reservations are removed; others stay."""
    deallocates: bool
    """Also clear the allocation: no other pod uses the claim."""
    deletes: bool = False
    """Also delete the claim, which was created for extended resources."""


@dataclass(frozen=True, slots=True)
class KeepVolume:
    """Write the claim into the volume, if the volume is still as it was at that version."""

    claim: ClaimKey
    claim_uid: str
    volume: str
    version: str
    by_us: bool
    """False if the volume named the claim before: the author of that entry decides when it ends."""


@dataclass(frozen=True, slots=True)
class ProvisionVolume:
    """Write the node on the claim, so that a provisioner creates a volume.

    Without one, the claim stays unbound.
    """

    claim: ClaimKey
    claim_uid: str
    node: str


VolumeStep = KeepVolume | ProvisionVolume


@dataclass(frozen=True, slots=True)
class BindVolumes:
    """Bind the pod's claims.

    The pod's own binding follows once they are seen to be bound; a failure refuses it.
    """

    pod: PodRef
    node: str
    steps: tuple[VolumeStep, ...]


@dataclass(frozen=True, slots=True)
class Evict:
    """Mark the pod as a victim of preemption, then delete it, unless it is terminating already."""

    pod: PodRef
    preemptor: PodRef | GroupRef
    node: str
    """The node where capacity is freed; for a group, the node of the victim."""


SCHEDULER_ERROR = "SchedulerError"
"""The reason in reports about pods or groups that are invalid, or whose writes failed."""


class ReportPod(msgspec.Struct, frozen=True, gc=False):
    """Write PodScheduled=False with this reason and message, and the nominated node, if any."""

    pod: PodRef
    reason: str
    message: str
    nominated_node: str = ""
    is_first: bool = True
    """Otherwise the condition was False before, and only its text changes."""


class Finding(msgspec.Struct, frozen=True, gc=False):
    """The outcome of the search for a placement."""

    outcome: Outcome
    text: str = ""
    is_new: bool = True
    """Otherwise the outcome was the same before."""


class ReportGroup(msgspec.Struct, frozen=True, gc=False):
    """Write to the group's object whether it is scheduled, if the object still has this uid."""

    group: GroupKey
    uid: str
    scheduled: bool
    reason: str
    message: str
    is_first: bool = True
    """Otherwise the condition had this status before, and only its text changes."""
    scheduler_name: str = ""
    """The scheduler name used in reports about the group."""
    tree: GroupKey | None = None
    """The root of its tree; pods are bound for the tree as a whole."""
    finding: Finding | None = None
    """None where there is nothing new to report."""
    is_news: bool = True
    """Otherwise only details of the text changed, such as the number of victims, and no event is recorded."""
    minimum_running: bool | None = None
    """For a group that has started before: whether its minimum is on nodes now; None if no news."""
    holds_anyway: bool = False
    """The report holds even if bindings of the same round are refused."""


@dataclass(frozen=True, slots=True)
class WarnGroup:
    """Record an event about the group: its status has no field for what happens after the start."""

    group: GroupKey
    uid: str
    reason: str
    message: str
    scheduler_name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class MarkDisrupted:
    """Mark a group that is evicted as a whole as a victim of preemption, or clear the mark once it runs."""

    group: GroupKey
    uid: str
    message: str = ""
    """Why it is evicted; empty to clear the mark."""
    preemptor: PodRef | GroupRef | None = None
    """The preemptor; None to clear the mark."""


@dataclass(frozen=True, slots=True)
class PublishReservation:
    """Write on the group's object which capacity is reserved for the group, or that none is any more."""

    group: GroupKey
    uid: str
    note: str
    """The value of the annotation; empty to remove it."""


@dataclass(frozen=True, slots=True)
class NotePriorities:
    """Write to the group's object that members have another priority, or that none has any more."""

    group: GroupKey
    uid: str
    message: str = ""
    """Empty if all members have the priority of the group."""
    scheduler_name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Solve:
    """Determine whether the group can be placed at all; the answer is an event with the same number."""

    group: GroupKey
    number: int
    problem: PlacementProblem
    effort: float
    """Effort limit: about seconds of one core."""


@dataclass(frozen=True, slots=True)
class Advise:
    """Determine what would let the group start; the answer is an event with the same number."""

    group: GroupKey
    number: int
    remedy_problem: RemedyProblem


Decision = (
    Bind
    | AllocateClaims
    | ReleaseClaim
    | BindVolumes
    | Evict
    | ReportPod
    | ReportGroup
    | WarnGroup
    | MarkDisrupted
    | PublishReservation
    | NotePriorities
    | Solve
    | Advise
)
