"""The answer to "does it fit", as data: code, cause of a refusal, and result of the search for victims."""

from dataclasses import dataclass
from enum import IntEnum

from posse.engine.causes import Cause, NoNodeFits, Refusal
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
    """By preemptionPolicy=Never."""

    of_group: bool = False


@dataclass(frozen=True, slots=True)
class NominatedNodeBusy:
    """Victims on the pod's nominated node are still terminating."""


@dataclass(frozen=True, slots=True)
class NoCandidateNode:
    """Evicting pods of lower priority makes room for the pod on none of the nodes."""

    nodes: int
    without_victims: int = 0
    """Nodes that run no pod of lower priority; on the others eviction does not help."""


@dataclass(frozen=True, slots=True)
class NodeChosen:
    """For a pod."""

    node: str
    victims: int
    """0 if all that have to leave are terminating already."""


@dataclass(frozen=True, slots=True)
class NoVictims:
    """No eviction would let the group start."""


@dataclass(frozen=True, slots=True)
class VictimsChosen:
    """For a group."""

    pods: int
    groups: int
    """Evicted as a whole, with their pods counted above."""
    has_placement: bool = True
    """False if some of its members preempt for themselves, though the group does not fit yet."""


@dataclass(frozen=True, slots=True)
class VictimsTerminating:
    pods: int
    """All that were evicted for the preemptor."""
    groups: int
    left: int
    """Those that have not gone yet."""


@dataclass(frozen=True, slots=True)
class NodesClearing:
    """Pods terminate on the nodes where the group fits then."""

    pods: int


PodPreemption = PreemptionForbidden | NominatedNodeBusy | NoCandidateNode | NodeChosen
GroupPreemption = PreemptionForbidden | NoVictims | VictimsChosen | VictimsTerminating | NodesClearing


@dataclass(frozen=True, slots=True)
class Verdict:
    code: Code
    cause: Cause = None
    proof: Proof | None = None
    """Of a refused group."""
    preemption: PodPreemption | GroupPreemption | None = None

    @property
    def succeeded(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Of a pod that was refused for itself."""
        return self.cause.refusals if isinstance(self.cause, NoNodeFits) else ()

    @property
    def outcome(self) -> Outcome | None:
        """Of the search for a placement; None where none was made."""
        if self.succeeded:
            return Outcome.PLACED
        return self.proof.outcome if self.proof is not None else None


SUCCESS = Verdict(Code.SUCCESS)
