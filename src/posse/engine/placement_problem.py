"""The placement of a refused group as numbers: the input of the exact search, and its answers.

A problem is a value. It is solved in another process while the engine goes on. The engine tries the solution
on the cluster as it is by then, and it alone knows which pods and nodes the numbers stand for.
"""

from dataclasses import dataclass

from posse.engine.proof import Outcome


@dataclass(frozen=True, slots=True)
class PodSet:
    """Identical pods."""

    wanted: tuple[int, ...]
    """Requests by resource of the problem."""
    room: tuple[int, ...]
    """By node: how many it could hold if no other pod were placed; 0 where they are not allowed."""


@dataclass(frozen=True, slots=True)
class GroupDemand:
    """A group that has not started: of pods, or of other groups."""

    minimum: int
    """How many more of its pods, or of the groups below it, must start."""
    pods: tuple[tuple[int, int], ...] = ()
    """Pod set and number; empty if it consists of groups."""
    children: tuple["GroupDemand", ...] = ()
    key: int | None = None
    """All its pods must be in one domain of this topology key."""
    domain: int | None = None
    """The domain, where running pods pin it."""
    minimum_resources: tuple[tuple[int, int], ...] = ()
    """Resource and amount that must be free in the whole cluster before any of its pods starts."""


Mix = tuple[int, ...]
"""Numbers of pods by pod set; negative where a number is not limited."""


@dataclass(frozen=True, slots=True)
class PlacementProblem:
    free: tuple[tuple[int, ...], ...]
    """By resource, by node."""
    pod_sets: tuple[PodSet, ...]
    root: GroupDemand
    domains: tuple[tuple[int, ...], ...] = ()
    """By topology key, by node; negative where the node has no such label."""
    mixes: tuple[tuple[Mix, ...], ...] = ()
    """For nodes with equal devices: mixes of pods that find devices, without those that others contain."""
    mix_of: tuple[int, ...] = ()
    """By node: the index of its mixes; empty if no pod needs devices."""
    elsewhere: tuple[int, ...] = ()
    """By resource: free on other nodes, less what is reserved, which may be more."""

    @property
    def node_count(self) -> int:
        return len(self.pod_sets[0].room)


NEW_DOMAIN = -2


@dataclass(frozen=True, slots=True)
class NodeShape:
    """An additional node, empty and like an existing one."""

    like: str
    free: tuple[int, ...]
    """By resource."""
    room: tuple[int, ...]
    """By pod set."""
    domains: tuple[int, ...] = ()
    """By topology key; NEW_DOMAIN where each additional node is its own domain."""
    where: str = ""
    """The names of the domains."""
    mix: int = 0
    """The index of its mixes, if pods need devices: as on the existing node, or better."""


@dataclass(frozen=True, slots=True)
class EvictableUnit:
    """Pods that are evicted together."""

    name: str
    freed: tuple[tuple[int, tuple[int, ...]], ...]
    """By node of the problem: their requests there, by resource."""
    pods: tuple[str, ...] = ()
    """Their uids, where they are needed."""


@dataclass(frozen=True, slots=True)
class DemandName:
    """The group that a demand stands for."""

    name: str
    is_composite: bool
    minimum: int
    running: int
    """Its pods on nodes, or the groups below it that have started; the demand is the rest."""


@dataclass(frozen=True, slots=True)
class RemedyProblem:
    """A group that cannot start, with the changes that might help."""

    problem: PlacementProblem
    """The problem over all nodes that any of its pods may use, including full ones."""
    demands: tuple[DemandName, ...]
    """The groups of the demands, from the root, parents first."""
    shapes: tuple[NodeShape, ...] = ()
    """Shapes of existing nodes; the likeliest to help first."""
    yielding: tuple[tuple[int, ...], ...] = ()
    """By resource, by node: requests of pods that preemption would evict for it, if that sufficed."""
    evictable_units: tuple[EvictableUnit, ...] = ()
    """Other pods on these nodes, lowest priority first."""


@dataclass(frozen=True, slots=True)
class MoreNodes:
    nodes: tuple[tuple[NodeShape, int], ...]
    """How many additional nodes of each shape."""


@dataclass(frozen=True, slots=True)
class Evicting:
    evictable_units: tuple[EvictableUnit, ...]


@dataclass(frozen=True, slots=True)
class SmallerMinimum:
    demand: int
    """The group: its number in a walk from the root, parents first."""
    minimum: int


@dataclass(frozen=True, slots=True)
class WithoutTopology:
    """Without the constraint that the group must be in one domain."""

    demand: int


Remedy = MoreNodes | Evicting | SmallerMinimum | WithoutTopology


@dataclass(frozen=True, slots=True)
class Remedies:
    """Changes that would each let the group start, by kind."""

    more_nodes: tuple[MoreNodes, ...] = ()
    evictions: tuple[Evicting, ...] = ()
    smaller_minimums: tuple[SmallerMinimum, ...] = ()
    without_topology: tuple[WithoutTopology, ...] = ()

    @property
    def kinds(self) -> tuple[tuple[Remedy, ...], ...]:
        return self.more_nodes, self.evictions, self.smaller_minimums, self.without_topology


@dataclass(frozen=True, slots=True)
class Advice:
    """Changes that would let a refused group start."""

    remedies: Remedies
    demands: tuple[DemandName, ...]
    has_topology: bool
    """Whether any of the groups must be in one domain."""
    has_devices: bool = False
    """Whether pods need devices; then no evictions are considered."""
    is_behind: bool = False
    """Whether pods or groups ahead of it in the queue were refused too: they are tried first."""


@dataclass(frozen=True, slots=True)
class UnmodelledRules:
    """No advice: these rules, or the volumes of the pods, cannot be put into numbers."""

    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PodTooLarge:
    """One pod asks for more of a resource than any node has."""

    resource: str
    wanted: int
    largest: int


@dataclass(frozen=True, slots=True)
class NoNodeOpen:
    """No advice: every node would refuse the pods even if it were empty."""

    too_large: PodTooLarge | None = None
    """The reason, if it is the size of the pods."""


@dataclass(frozen=True, slots=True)
class TooManyShapes:
    """No advice: nodes and pods differ in too many ways."""


Unadvised = UnmodelledRules | NoNodeOpen | TooManyShapes


Share = tuple[tuple[int, int], ...]
"""Node and number, for the pods of one set in one demand."""


@dataclass(frozen=True, slots=True)
class Solution:
    outcome: Outcome
    shares: tuple[tuple[Share, ...], ...] = ()
    """For each demand of pods, left to right, and each of its pod sets; only required pods are placed."""


def leaves(demand: GroupDemand) -> list[GroupDemand]:
    """Demands of pods, left to right."""
    if not demand.children:
        return [demand]
    return [leaf for child in demand.children for leaf in leaves(child)]
