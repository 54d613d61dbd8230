"""A group that found no place, reduced to numbers: what an exact search needs to know, and what it may answer.

A puzzle is a value. It is solved elsewhere, while the engine goes on deciding for others; what comes back is tried on the
cluster as it is by then. Who made the puzzle and what the numbers stand for is known to the engine alone.
"""

from dataclasses import dataclass

from posse.engine.verdict import Outcome


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods that are alike."""

    wanted: tuple[int, ...]
    """By resource of the puzzle."""
    room: tuple[int, ...]
    """By node: how many of them it could take if none of the others were placed; 0 where they may not be."""


@dataclass(frozen=True, slots=True)
class GroupDemand:
    """A group that has not started: of pods, or of other such groups."""

    minimum: int
    """How many of its pods, or of the groups below it, have to start so that it does, beside those that have."""
    pods: tuple[tuple[int, int], ...] = ()
    """Sort and number; empty if it consists of groups."""
    children: tuple["GroupDemand", ...] = ()
    key: int | None = None
    """All its pods must be in one domain of this topology key."""
    domain: int | None = None
    """The domain is given, because some of its pods are there already."""


@dataclass(frozen=True, slots=True)
class PlacementProblem:
    free: tuple[tuple[int, ...], ...]
    """By resource, by node."""
    pod_sets: tuple[PodSet, ...]
    root: GroupDemand
    domains: tuple[tuple[int, ...], ...] = ()
    """By topology key, by node; negative where the node has no such label."""

    @property
    def node_count(self) -> int:
        return len(self.pod_sets[0].room)


NEW_DOMAIN = -2


@dataclass(frozen=True, slots=True)
class NodeShape:
    """What a further node would bring if it were like one that is there, and empty."""

    like: str
    free: tuple[int, ...]
    """By resource."""
    room: tuple[int, ...]
    """By sort."""
    domains: tuple[int, ...] = ()
    """By topology key; NEW_DOMAIN where each further node would be one by itself."""
    where: str = ""
    """Which domains these are, in words."""


@dataclass(frozen=True, slots=True)
class EvictableUnit:
    """Pods that are evicted as one."""

    name: str
    freed: tuple[tuple[int, tuple[int, ...]], ...]
    """Node of the puzzle, and by resource what they take there."""


@dataclass(frozen=True, slots=True)
class DemandName:
    """A group that a team of a puzzle stands for."""

    name: str
    is_composite: bool
    minimum: int
    running: int
    """Pods that it has on nodes, or groups below it that have started; the team is about the rest."""


@dataclass(frozen=True, slots=True)
class RemedyProblem:
    """A group that cannot start, with what could be changed so that it does."""

    problem: PlacementProblem
    """Over all nodes that are open to any of its pods, full ones too."""
    demands: tuple[DemandName, ...]
    """Whom the teams of the puzzle stand for: from the root, parents first."""
    shapes: tuple[NodeShape, ...] = ()
    """Of the nodes there are, those first of which more are likeliest to help."""
    yielding: tuple[tuple[int, ...], ...] = ()
    """By resource, by node: what those take that would be evicted for it, if that were enough."""
    evictable_units: tuple[EvictableUnit, ...] = ()
    """Others that are in its way, the least important first."""


@dataclass(frozen=True, slots=True)
class Unadvised:
    """A group that cannot start, and why nobody can tell what would help."""

    why: str

    @property
    def sentence(self) -> str:
        return f"{UNKNOWN_OPENING} {self.why}."


ADVICE_OPENING = "Any of these would let it start:"
"""How the sentence begins that says what would help."""
USELESS_OPENING = "No change was found that would let it start, among"
"""If nothing would."""
UNKNOWN_OPENING = "What would let it start is not looked for:"
"""If that cannot be found out."""


Share = tuple[tuple[int, int], ...]
"""Node and number, for the pods of one sort in one team."""


@dataclass(frozen=True, slots=True)
class Solution:
    outcome: Outcome
    shares: tuple[tuple[Share, ...], ...] = ()
    """For each team of pods, left to right, and each of its sorts; only as many pods as have to start are placed."""


def leaves(demand: GroupDemand) -> list[GroupDemand]:
    """Teams of pods, left to right."""
    if not demand.children:
        return [demand]
    return [leaf for child in demand.children for leaf in leaves(child)]
