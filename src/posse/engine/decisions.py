"""What the engine wants done, in the imperative. Adapters carry it out; a refusal returns as an event."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PodRef:
    namespace: str
    name: str
    uid: str
    scheduler_name: str = field(default="", compare=False)
    """Under whose name we speak about the pod."""


@dataclass(frozen=True, slots=True)
class GroupKey:
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class ClaimKey:
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


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
    preemptor: PodRef
    node: str


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
class ReportGroup:
    """Write PodGroupInitiallyScheduled on the PodGroup, if it is still the one with this uid."""

    group: GroupKey
    uid: str
    scheduled: bool
    reason: str
    message: str
    is_first: bool = True
    """Otherwise the condition had this status before, and only its text changes."""


Decision = Bind | BindVolumes | Evict | ReportPod | ReportGroup
