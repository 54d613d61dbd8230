"""Why a pod or group was refused, or is not tried, as data. `reporting` makes the sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from posse.engine.invalid_groups import GroupProblem
from posse.engine.keys import GroupKey
from posse.engine.proof import Proof

_RESOURCES = "NodeResourcesFit"
"""The rule that compares requests with free capacity."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason for which `nodes` nodes refuse a pod."""

    rule: str
    reason: str
    nodes: int


@dataclass(frozen=True, slots=True)
class DeviceShortage:
    """A request of a claim that finds no devices on the nodes which would take the pod otherwise."""

    claim: str
    """Its key; for a pod's own claim, the name that a pod of the class has for it."""
    position: int
    """Of a pod's own claim among all its claims, since pods of one class have one each; else -1."""
    request: str
    class_name: str
    wanted: int
    """0 for all that match."""
    matching: int
    """The most devices that match on one node."""
    tolerated: int
    """The most of these on one node whose taints it tolerates."""
    free: int
    """The most of these on one node that no claim holds."""
    is_met_alone: bool
    """Whether it finds devices by itself, but not together with the other requests."""
    unusable_pools: tuple[str, ...] = ()
    """Pools of these nodes that are incomplete or invalid, and give no devices."""


@dataclass(frozen=True, slots=True)
class ClaimElsewhere:
    """A claim whose devices cannot be used from nodes that would take the pod otherwise."""

    claim: str
    requests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoNodeFits:
    nodes: int
    refusals: tuple[Refusal, ...] = ()
    """Each node is counted once, under the first rule that refused it."""
    is_precondition: bool = False
    """The one refusal is about the pod itself, whatever the node."""
    devices: tuple[DeviceShortage | ClaimElsewhere, ...] = ()
    """What keeps claims from their devices."""
    doubts: Proof | None = None
    """The proof of its group, where a better search might place the pod."""

    @property
    def names_own_claims(self) -> bool:
        return any(isinstance(one, DeviceShortage) and one.position >= 0 for one in self.devices)

    def with_names(self, names: Sequence[str]) -> "NoNodeFits":
        """The same for one pod, which has claims of these names."""
        devices = tuple(
            replace(one, claim=names[one.position])
            if isinstance(one, DeviceShortage) and one.position >= 0
            else one
            for one in self.devices
        )
        return replace(self, devices=devices)


@dataclass(frozen=True, slots=True)
class ResourceLack:
    """A resource of which nodes have too little left for one pod. Amounts are in base units."""

    resource: str
    wanted: int
    """Request of one pod."""
    nodes: int
    """Nodes with some, but too little, of it left; where none has any left, all nodes with too little."""
    free: tuple[int, int]
    """Least and most free capacity on one of these nodes."""
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
    """Pods on nodes, or placed by the attempt."""
    placed: int
    """Pods that the attempt placed; the shortfall of the others is counted beside them."""
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
    """Running members pin the group to this domain."""
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
    """The cluster has less free capacity than the group's minResources."""

    resource: str
    wanted: int
    free: int
    reserved: int
    """Free capacity that is reserved for groups that have started but lack pods."""


@dataclass(frozen=True, slots=True)
class UnreadableResources:
    error: str


@dataclass(frozen=True, slots=True)
class LacksPods:
    """Fewer pods of a group exist than it needs."""

    present: int
    minimum: int
    is_gang: bool
    has_finished_members: bool = False


@dataclass(frozen=True, slots=True)
class LacksGroups:
    """Fewer groups of a composite group have the pods they need than it needs."""

    able: int
    minimum: int
    existing: int
    lacking: tuple[str, ...]
    """Names of the first groups that lack pods."""
    others: int
    """How many more lack pods."""


LacksMembers = LacksPods | LacksGroups


@dataclass(frozen=True, slots=True)
class TooFewGroups:
    """Fewer groups of a composite group fit than must start together."""

    minimum: int
    fit: int
    first: GroupKey
    """One group that does not fit, with its cause."""
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
    """No further pod of a started tree fits. The cause is that of the first."""

    group: GroupKey
    cause: "Cause"


@dataclass(frozen=True, slots=True)
class TooManySteps:
    """The attempt was broken off. Others go first, and the next attempt may take more steps."""


@dataclass(frozen=True, slots=True)
class GroupRefused:
    """The pod or group would fit by itself, but the group it belongs to is refused."""

    cause: "Cause"
    proof: Proof | None = None
    group: GroupKey | None = None
    """The refused group; None for the pod's own."""


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
    | TooManySteps
    | GroupRefused
    | None
)
"""None where nothing was refused."""


@dataclass(frozen=True, slots=True)
class GroupAbsent:
    """No object describes the group yet."""

    key: GroupKey
    siblings: tuple[str, ...] | None = None
    """The groups that its Workload has; None if that does not exist, or there is none."""


@dataclass(frozen=True, slots=True)
class GatedPods:
    """Pods with scheduling gates."""

    group: str
    """The group within a tree; empty for the pods of the root itself."""
    pods: tuple[tuple[str, tuple[str, ...]], ...]
    """The first of them, each with its gates."""
    others: int


@dataclass(frozen=True, slots=True)
class ExpectedPods:
    """A group waits a moment for the pods that it says it has."""

    present: int
    expected: int


@dataclass(frozen=True, slots=True)
class BindingsInFlight:
    """Pods that came later wait for the outcome."""


@dataclass(frozen=True, slots=True)
class InvalidGroup:
    """What objects say cannot be."""

    problem: GroupProblem


HoldCause = LacksMembers | GroupAbsent | GatedPods | ExpectedPods | BindingsInFlight | InvalidGroup
"""Why a group is not tried at all."""


def is_about_capacity(cause: Cause) -> bool:
    """Whether more free capacity could help: not for a missing claim, or a selector that no node matches."""
    match cause:
        case NoNodeFits():
            return any(refusal.rule == _RESOURCES for refusal in cause.refusals)
        case TooFewFit() | NoDomainFits():
            return any(one.lack is not None for one in cause.short)
        case MissingResources():
            return True
        case TooFewGroups() | InBestDomain() | ConfinedTo() | NoneWaitingFits() | GroupRefused():
            return is_about_capacity(cause.cause)
        case _:
            return False
