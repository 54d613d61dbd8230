"""Why a pod or group was refused, as data. `reporting/messages.py` makes the sentences."""

from dataclasses import dataclass

from posse.engine.keys import GroupKey
from posse.engine.proof import Proof


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason for which `nodes` nodes refuse a pod."""

    rule: str
    reason: str
    nodes: int


@dataclass(frozen=True, slots=True)
class NoNodeFits:
    nodes: int
    refusals: tuple[Refusal, ...] = ()
    """Each node is counted once, under the first rule that refused it."""
    is_precondition: bool = False
    """The one refusal is about the pod itself, whatever the node."""
    doubts: Proof | None = None
    """The proof of its group, where a better search might place the pod."""


@dataclass(frozen=True, slots=True)
class ResourceLack:
    """A resource of which nodes have too little left for one pod. Amounts are in base units."""

    resource: str
    wanted: int
    """By one pod."""
    nodes: int
    """With some of it left, though too little; where none has any, all that have too little."""
    free: tuple[int, int]
    """Least and most on one of these nodes."""
    capacity: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ClassShortfall:
    """Identical pods that find no node."""

    pods: int
    cause: "Cause"
    lack: ResourceLack | None = None
    """None where the cause is not a resource."""


@dataclass(frozen=True, slots=True)
class TooFewFit:
    """Fewer pods of a group fit than must start together."""

    minimum: int
    fit: int
    """On nodes, or placed by the attempt."""
    placed: int
    """Those that the attempt placed; what the others lack is counted beside them."""
    short: tuple[ClassShortfall, ...]


@dataclass(frozen=True, slots=True)
class RuleObjection:
    """A group rule rejects the placement of a whole group."""

    rule: str
    objection: str


@dataclass(frozen=True, slots=True)
class NoDomainFits:
    """No domain of the topology key can hold the group."""

    topology_key: str
    domains: int
    best: str
    """The domain that came closest, to which the numbers refer."""
    is_pinned: bool
    """Members that run pin the group to this domain."""
    has_minimum: bool
    """The group runs, or a single pod is enough: no further pod fits."""
    minimum: int
    fit: int
    placed: int
    short: tuple[ClassShortfall, ...]
    objections: tuple[RuleObjection, ...] = ()


@dataclass(frozen=True, slots=True)
class NoSuchDomain:
    """No node has the label of the topology key, or none the value where members run."""

    topology_key: str
    pinned: str | None = None


@dataclass(frozen=True, slots=True)
class OutsideDomains:
    """A member runs on a node without the label of the topology key."""

    node: str
    topology_key: str


@dataclass(frozen=True, slots=True)
class SeveralDomains:
    """Members run in more than one domain."""

    domains: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MissingResources:
    """The cluster has less free than the group's minResources."""

    resource: str
    wanted: int
    free: int
    reserved: int
    """Part of what is free, reserved for groups that have started but lack pods."""


@dataclass(frozen=True, slots=True)
class UnreadableResources:
    error: str


@dataclass(frozen=True, slots=True)
class LacksMembers:
    lacks: str
    """Which pods or groups do not exist."""
    has_finished_members: bool = False


@dataclass(frozen=True, slots=True)
class TooFewGroups:
    """Fewer groups of a composite group fit than must start together."""

    minimum: int
    fit: int
    first: GroupKey
    """One that does not fit, and why."""
    cause: "Cause"
    others: int
    """Further groups that do not fit."""


@dataclass(frozen=True, slots=True)
class NoDomainForTree:
    topology_key: str


@dataclass(frozen=True, slots=True)
class InBestDomain:
    """A composite group fits in no domain; the cause is that of the one that comes closest."""

    topology_key: str
    domain: str
    domains: int
    cause: "Cause"


@dataclass(frozen=True, slots=True)
class ConfinedTo:
    """A group must join others of its tree in their domain, and does not fit there."""

    cause: "Cause"
    topology_key: str
    domain: str
    tree: GroupKey


@dataclass(frozen=True, slots=True)
class NoneWaitingFits:
    """Of a tree that has started: no further pod fits. The cause is that of the first."""

    group: GroupKey
    cause: "Cause"


@dataclass(frozen=True, slots=True)
class GroupRefused:
    """The pod or group would fit by itself, but the group it belongs to is refused."""

    cause: "Cause"
    proof: Proof | None = None
    group: GroupKey | None = None
    """Which group; None for the pod's own."""


Cause = (
    NoNodeFits
    | TooFewFit
    | RuleObjection
    | NoDomainFits
    | NoSuchDomain
    | OutsideDomains
    | SeveralDomains
    | MissingResources
    | UnreadableResources
    | LacksMembers
    | TooFewGroups
    | NoDomainForTree
    | InBestDomain
    | ConfinedTo
    | NoneWaitingFits
    | GroupRefused
    | None
)
"""None where nothing was refused."""
