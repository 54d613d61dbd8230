"""Whether a group or a tree may be tried at all: what it still waits for, and its errors."""

from dataclasses import dataclass

from posse.engine.causes import BindingsInFlight, ExpectedPods, GatedPods, HoldCause, InvalidGroup
from posse.engine.decisions import SCHEDULER_ERROR
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.hierarchy_links import MAX_ABOVE, MAX_GROUPS
from posse.engine.groups.part import Root
from posse.engine.groups.tree import MAX_LEVELS
from posse.engine.groups.tree_validation import violation
from posse.engine.invalid_groups import (
    GroupProblem,
    MemberProblem,
    OtherMemberPolicy,
    OtherMemberPriority,
    SeveralMemberPolicies,
    SeveralSchedulers,
    TooManyAbove,
    TooManyGroups,
    TreeProblem,
    WrongPriority,
)
from posse.model.pod import Pod

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"

BEING_BOUND = "BeingBound"
INVALID = "Invalid"
WAITING_FOR_GROUP = "WaitingForPodGroup"
WAITING_FOR_PODS = "WaitingForPods"
EXPECTING_PODS = "ExpectingPods"

_MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class NotReady:
    """Why a group is not tried. Only an error is reported to every member."""

    reason: str
    cause: HoldCause
    is_error: bool = False

    @property
    def is_transient(self) -> bool:
        """It passes in a moment by itself, and is not reported."""
        return self.reason in {BEING_BOUND, EXPECTING_PODS}

    @property
    def pod_reason(self) -> str:
        """The reason reported on pods, which know only one kind of error."""
        return SCHEDULER_ERROR if self.is_error else self.reason


def not_ready(groups: GroupBook, root: Root) -> NotReady | None:
    """Why the group or tree is not tried now; None when it may be."""
    if wrong := _beyond_limits(groups, root) or _wrong_priority(root) or _wrong_tree(groups, root):
        return NotReady(INVALID, InvalidGroup(wrong), is_error=True)
    if (absence := root.absence) is not None:
        return NotReady(WAITING_FOR_GROUP, absence)
    if root.tops and (lack := root.tops[0].lack) is not None:
        return NotReady(WAITING_FOR_PODS, lack)
    for leaf in root.leaves:
        if (gated := _gated(root, leaf)) is not None:
            return NotReady("SchedulingGated", gated)
    if error := contradiction(root, members_must_match=groups.members_must_match):
        return NotReady(SCHEDULER_ERROR, InvalidGroup(error), is_error=True)
    return _premature(root)


def _beyond_limits(groups: GroupBook, root: Root) -> GroupProblem | None:
    if groups.links.is_buried(root.key):
        return TooManyAbove(MAX_ABOVE, MAX_LEVELS)
    if len(root.records) > MAX_GROUPS:
        return TooManyGroups(MAX_GROUPS)
    excesses = [leaf.excess for leaf in root.leaves if leaf.excess is not None]
    return excesses[0] if excesses else None


def _wrong_priority(root: Root) -> WrongPriority | None:
    """A priority that its class does not give; groups of Kubernetes' own API cannot have one."""
    alone = len(root.records) == 1
    for record in root.records:
        if (error := record.priority_error) is not None:
            return WrongPriority(error, None if alone else record.key)
    return None


def _wrong_tree(groups: GroupBook, root: Root) -> TreeProblem | None:
    if not root.key.is_composite:
        return None
    return violation(root, groups.workload(root.key.namespace, root.workload_name), groups.classes)


def _premature(root: Root) -> NotReady | None:
    """Conditions that pass by themselves: bindings in flight, or expected pods."""
    if root.relies_on_promises:
        return NotReady(BEING_BOUND, BindingsInFlight())
    return next((hold for leaf in root.leaves if (hold := expecting(leaf)) is not None), None)


def _gated(root: Root, group: GroupRecord) -> GatedPods | None:
    """The gated pods of the group; None if no pod has scheduling gates."""
    gated = [record.pod for record in group.members.values() if record.pod.spec.scheduling_gates]
    if not gated:
        return None
    named = tuple((pod.metadata.name, gates_of(pod)) for pod in gated[:_MAX_NAMED])
    return GatedPods(group.key.name if group is not root.top else "", named, len(gated) - len(named))


def gates_of(pod: Pod) -> tuple[str, ...]:
    return tuple(gate.name for gate in pod.spec.scheduling_gates)


def expecting(group: GroupRecord) -> NotReady | None:
    """A group that states its number of pods waits for them for a short time."""
    if group.gathered or not group.expected:
        return None
    present = group.present_count
    if present < group.expected:
        return NotReady(EXPECTING_PODS, ExpectedPods(present, group.expected))
    return None


def contradiction(root: Root, *, members_must_match: bool = False) -> MemberProblem | None:
    """How pods contradict each other or their group.

    The priority and preemption policy of pods are compared only where they `must_match` those of the group.
    """
    for leaf in root.leaves:
        if members_must_match and leaf.members and (error := _contradiction(leaf)):
            return error
    return _members_disagree([record.pod for record in root.members.values()])


def _contradiction(group: GroupRecord) -> MemberProblem | None:
    pods = [record.pod for record in group.members.values()]
    if group.obj is None or not group.states_priority:
        return _members_disagree(pods)
    policy = group.obj.spec.preemption_policy
    return _members_disagree(pods) or _members_contradict(pods, group.priority, policy)


def _members_disagree(pods: list[Pod]) -> SeveralSchedulers | None:
    names = tuple(dict.fromkeys([pod.spec.scheduler_name for pod in pods]))
    return SeveralSchedulers(names) if len(names) > 1 else None


def _members_contradict(pods: list[Pod], priority: int, policy: str | None) -> MemberProblem | None:
    """Where the group states no policy, its members need only agree among themselves."""
    for pod in pods:
        own_priority = pod.spec.priority or 0
        if own_priority != priority:
            return OtherMemberPriority(own_priority, priority)
        own_policy = pod.spec.preemption_policy or PREEMPT_LOWER_PRIORITY
        if policy is not None and own_policy != policy:
            return OtherMemberPolicy(own_policy, policy)
    policies = tuple(dict.fromkeys(pod.spec.preemption_policy or PREEMPT_LOWER_PRIORITY for pod in pods))
    return SeveralMemberPolicies(policies) if len(policies) > 1 else None
