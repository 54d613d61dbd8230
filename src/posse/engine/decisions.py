"""What the engine wants done, in the imperative. Adapters carry it out; a refusal returns as an event."""

from dataclasses import dataclass, field

from posse.engine.keys import ClaimKey, GroupKey, GroupRef, PodRef
from posse.engine.placement_problem import PlacementProblem, RemedyProblem
from posse.engine.proof import Outcome


@dataclass(frozen=True, slots=True)
class Placement:
    pod: PodRef
    node: str
    attempts: int = field(default=1, compare=False)
    """How many it took to find the node."""
    queued_at: float = field(default=0.0, compare=False)
    """When the pod was first free to be tried."""


@dataclass(frozen=True, slots=True)
class Bind:
    """Bind all of these. They belong together when `group` is set."""

    placements: tuple[Placement, ...]
    group: GroupKey | None = None


@dataclass(frozen=True, slots=True)
class KeepVolume:
    """Write the claim into the volume, if the volume is still as it was at that version."""

    claim: ClaimKey
    claim_uid: str
    volume: str
    version: str
    by_us: bool
    """False if the volume named the claim before: whoever wrote that down decides when it ends."""


@dataclass(frozen=True, slots=True)
class ProvisionVolume:
    """Write the node on the claim, for which a provisioner then makes a volume. Where none runs, the claim stays unbound."""

    claim: ClaimKey
    claim_uid: str
    node: str


VolumeStep = KeepVolume | ProvisionVolume


@dataclass(frozen=True, slots=True)
class BindVolumes:
    """Have the pod's claims bound. Its own binding follows as a decision once they are seen to be; a failure refuses it."""

    pod: PodRef
    node: str
    steps: tuple[VolumeStep, ...]


@dataclass(frozen=True, slots=True)
class Evict:
    """Mark the pod as a victim of preemption, then delete it, unless it is on its way out already."""

    pod: PodRef
    preemptor: PodRef | GroupRef
    node: str
    """Where room is made; for a group that is the whole cluster, and here is where the victim is."""


SCHEDULER_ERROR = "SchedulerError"
"""The reason of reports about what can never be tried as it is, or failed outside."""


@dataclass(frozen=True, slots=True)
class ReportPod:
    """Write PodScheduled=False with this reason and message, and the node where room is being made, if any."""

    pod: PodRef
    reason: str
    message: str
    nominated_node: str = ""
    is_first: bool = True
    """Otherwise the condition was False before, and only its text changes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of the search for a placement."""

    outcome: Outcome
    text: str = ""
    is_new: bool = True
    """Otherwise the outcome was the same before."""


@dataclass(frozen=True, slots=True)
class ReportGroup:
    """Tell the object that describes the group whether it is scheduled, if it is still the one with this uid."""

    group: GroupKey
    uid: str
    scheduled: bool
    reason: str
    message: str
    is_first: bool = True
    """Otherwise the condition had this status before, and only its text changes."""
    scheduler_name: str = field(default="", compare=False)
    """Under whose name we speak about the group."""
    tree: GroupKey | None = None
    """The root of the tree it belongs to; what is bound for it is bound for the tree as a whole."""
    finding: Finding | None = None
    """None where there is nothing to say about it that has not been said."""
    is_news: bool = True
    """Otherwise it was told before but for some words, such as how many victims it waits for, and that is no event."""
    holds_anyway: bool = False
    """Whatever becomes of what is bound in the same round."""


@dataclass(frozen=True, slots=True)
class WarnGroup:
    """Record an event about the group: its status has no place for what happens after it has started."""

    group: GroupKey
    uid: str
    reason: str
    message: str
    scheduler_name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class MarkDisrupted:
    """Mark a group that is evicted as a whole as a victim of preemption, or take the mark away once it runs again."""

    group: GroupKey
    uid: str
    message: str = ""
    """Why it is evicted; empty if that is over."""
    preemptor: PodRef | GroupRef | None = None
    """For whom; None if that is over."""


@dataclass(frozen=True, slots=True)
class Solve:
    """Find out whether the group can be placed at all; the answer comes back as an event with the same number."""

    group: GroupKey
    number: int
    problem: PlacementProblem
    effort: float
    """That may be spent: about seconds of one core."""


@dataclass(frozen=True, slots=True)
class Advise:
    """Find out what would let the group start; the answer comes back as an event with the same number."""

    group: GroupKey
    number: int
    remedy_problem: RemedyProblem


Decision = Bind | BindVolumes | Evict | ReportPod | ReportGroup | WarnGroup | MarkDisrupted | Solve | Advise
