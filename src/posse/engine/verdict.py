"""The answer to "does it fit", as data: code, cause of a refusal, and result of the search for victims."""

from dataclasses import dataclass
from enum import IntEnum

from posse.engine.causes import Cause, NoNodeFits, Refusal
from posse.engine.keys import GroupKey
from posse.engine.proof import Outcome, Proof


class Code(IntEnum):
    """Only UNSCHEDULABLE is worth a search for victims."""

    SUCCESS = 0
    UNSCHEDULABLE = 1
    UNRESOLVABLE = 2
    ERROR = 3
    """The request contradicts the cluster: one domain for pods that run in two, for example."""


@dataclass(frozen=True, slots=True)
class PreemptionForbidden:
    """Forbidden by preemptionPolicy=Never."""

    of_group: bool = False


@dataclass(frozen=True, slots=True)
class NominatedNodeBusy:
    """Victims on the pod's nominated node are still terminating."""


@dataclass(frozen=True, slots=True)
class VictimsProtected:
    """Groups that would be evicted have not run for their minimum run time yet."""

    group: GroupKey
    """The one that is protected longest."""
    until: float
    others: int = 0
    """Further protected groups that would be evicted."""


@dataclass(frozen=True, slots=True)
class NoCandidateNode:
    """Evicting pods of lower priority frees enough capacity on none of the nodes."""

    nodes: int
    without_victims: int = 0
    """Nodes that run no pod of lower priority; on the others eviction does not help."""
    protected: VictimsProtected | None = None
    """What would help once it is no longer protected."""


@dataclass(frozen=True, slots=True)
class NodeChosen:
    """The node chosen for a pod."""

    node: str
    victims: int
    """0 if all necessary victims are terminating already."""


@dataclass(frozen=True, slots=True)
class NoVictims:
    """No eviction would let the group start."""


@dataclass(frozen=True, slots=True)
class VictimsChosen:
    """The victims chosen for a group."""

    pods: int
    groups: int
    """Groups evicted as a whole; their pods are counted above."""
    has_placement: bool = True
    """False if some of its members preempt by themselves, though the group does not fit yet."""


@dataclass(frozen=True, slots=True)
class VictimsTerminating:
    pods: int
    """All pods evicted for the preemptor."""
    groups: int
    left: int
    """Victims that have not left yet."""


@dataclass(frozen=True, slots=True)
class NodesClearing:
    """Pods are terminating on the nodes where the group will fit."""

    pods: int


PodPreemption = PreemptionForbidden | NominatedNodeBusy | NoCandidateNode | NodeChosen
GroupPreemption = (
    PreemptionForbidden | NoVictims | VictimsProtected | VictimsChosen | VictimsTerminating | NodesClearing
)


@dataclass(frozen=True, slots=True)
class Verdict:
    code: Code
    cause: Cause = None
    proof: Proof | None = None
    """The proof for a refused group."""
    preemption: PodPreemption | GroupPreemption | None = None

    @property
    def succeeded(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Refusals of a pod that was refused by its own verdict."""
        return self.cause.refusals if isinstance(self.cause, NoNodeFits) else ()

    @property
    def outcome(self) -> Outcome | None:
        """Outcome of the search for a placement; None where none was made."""
        if self.succeeded:
            return Outcome.PLACED
        return self.proof.outcome if self.proof is not None else None


SUCCESS = Verdict(Code.SUCCESS)
