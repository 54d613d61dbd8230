"""Whether a group may be tried at all: what it still waits for, and what is wrong with it."""

from dataclasses import dataclass

from posse.engine.decisions import SCHEDULER_ERROR
from posse.engine.groups.forms import form_of
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.tree import Branch, Part, Tree, admissible_children, is_admissible
from posse.engine.groups.tree_validation import violation
from posse.model.pod import Pod
from posse.model.workload import Workload

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"

BEING_BOUND = "BeingBound"
INVALID = "Invalid"
WAITING_FOR_GROUP = "WaitingForPodGroup"
WAITING_FOR_PODS = "WaitingForPods"
EXPECTING_PODS = "ExpectingPods"

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class NotReady:
    """The group is not tried. Only an error is worth telling every member."""

    reason: str
    message: str
    is_error: bool = False

    @property
    def told_to_pods(self) -> str:
        """The reason that pods are given: for them there is but one sort of error."""
        return SCHEDULER_ERROR if self.is_error else self.reason


def not_ready(group: GroupRecord) -> NotReady | None:
    """Why the group is not tried now; None when it may be."""
    podgroup = group.podgroup
    if podgroup is None:
        return NotReady(WAITING_FOR_GROUP, form_of(group.key).absence(group.key, group.siblings))
    too_few = too_few_pods(group)
    if too_few:
        return NotReady(WAITING_FOR_PODS, too_few)
    gated = gated_members(group)
    if gated:
        return NotReady("SchedulingGated", gated)
    error = contradiction(group)
    if error:
        return NotReady(SCHEDULER_ERROR, error, is_error=True)
    if group.relies_on_promises:
        return NotReady(BEING_BOUND, "its pods are being bound; those that came later wait for the outcome")
    return expecting(group)


def too_few_pods(group: GroupRecord) -> str:
    """How many of those it needs exist; empty if enough do."""
    present = group.attached_count + len(group.unattached())
    if present >= group.minimum:
        return ""
    return f"{present} of the {group.minimum} pods it needs exist" if group.is_gang else "it has no pods"


def gated_members(group: GroupRecord) -> str:
    """Which of its pods are not to be scheduled yet; empty if none is so."""
    gated = [record.pod for record in group.members.values() if record.pod.spec.scheduling_gates]
    if not gated:
        return ""
    named = [f"{pod.metadata.name} ({gates_of(pod)})" for pod in gated[:_MOST_NAMED]]
    rest = f" and {len(gated) - _MOST_NAMED} more" if len(gated) > _MOST_NAMED else ""
    verb = "has" if len(gated) == 1 else "have"
    return f"{len(gated)} of its pods {verb} scheduling gates: {', '.join(named)}{rest}"


def gates_of(pod: Pod) -> str:
    return ", ".join(gate.name for gate in pod.spec.scheduling_gates)


def expecting(group: GroupRecord) -> NotReady | None:
    """A group that says how many pods it will have waits for them, but not for long."""
    if group.gathered or not group.expected:
        return None
    present = group.attached_count + len(group.unattached())
    if present < group.expected:
        message = (
            f"{present} of the {group.expected} pods it expects exist; in a moment it is tried with those"
        )
        return NotReady(EXPECTING_PODS, message)
    return None


def contradiction(group: GroupRecord) -> str:
    """What the group and its members say that does not go together; empty if nothing."""
    podgroup = group.podgroup
    if podgroup is None:
        return ""
    pods = [record.pod for record in group.members.values()]
    if not group.states_priority:
        return members_disagree(pods)
    return members_disagree(pods) or _members_contradict(
        pods, group.priority, podgroup.spec.preemption_policy
    )


def members_disagree(pods: list[Pod]) -> str:
    names = list(dict.fromkeys(pod.spec.scheduler_name for pod in pods))
    if len(names) > 1:
        return (
            "all pods in a single pod group should have the same .spec.schedulerName set, "
            f'got: "{names[0]}" and "{names[1]}"'
        )
    return ""


def _members_contradict(pods: list[Pod], priority: int, policy: str | None) -> str:
    """Where the group states no policy, its members need only agree among themselves."""
    whole = "all pods in a single pod group should have the same"
    for pod in pods:
        own_priority = pod.spec.priority or 0
        if own_priority != priority:
            return f"{whole} priority as the pod group's priority, got {own_priority} and {priority}"
        own_policy = pod.spec.preemption_policy or PREEMPT_LOWER_PRIORITY
        if policy is not None and own_policy != policy:
            return f"{whole} preemption policy as the pod group's preemption policy, got {own_policy} and {policy}"
    policies = list(dict.fromkeys(pod.spec.preemption_policy or PREEMPT_LOWER_PRIORITY for pod in pods))
    return f"{whole} preemption policy, got {policies[0]} and {policies[1]}" if len(policies) > 1 else ""


_MOST_NAMED = 3


def tree_not_ready(tree: Tree, workload: Workload | None) -> NotReady | None:
    """Why the tree is not tried now; None when it may be. `workload` is the one that the root names, if it exists."""
    wrong = violation(tree, workload)
    if wrong:
        return NotReady(INVALID, wrong, is_error=True)
    if tree.top is None:
        return NotReady(WAITING_FOR_GROUP, f"CompositePodGroup {tree.key.name} does not exist yet")
    if not is_admissible(tree.top):
        return NotReady(WAITING_FOR_PODS, incomplete(tree.top))
    return _held_by_leaf(tree) or _premature(tree)


def incomplete(part: Part) -> str:
    """Of a part that cannot start: which members it lacks."""
    if not isinstance(part, Branch):
        return too_few_pods(part)
    groups = f"{admissible_children(part)} of the {part.minimum} groups it needs have the pods they need"
    if part.minimum == 1:
        groups = "none of its groups has the pods it needs"
    if len(part.children) < part.minimum:
        return f"{groups}; {f'only {len(part.children)}' if part.children else 'none'} exist"
    lacking = [child.key.name for child in part.children if not is_admissible(child)]
    rest = f" and {len(lacking) - _MOST_NAMED} more" if len(lacking) > _MOST_NAMED else ""
    return f"{groups}; not {', '.join(lacking[:_MOST_NAMED])}{rest}"


def _held_by_leaf(tree: Tree) -> NotReady | None:
    for leaf in tree.leaves:
        message = gated_members(leaf)
        if message:
            return NotReady("SchedulingGated", f"in pod group {leaf.key.name} {message}")
    errors = [contradiction(leaf) for leaf in tree.leaves if leaf.members]
    errors.append(members_disagree([record.pod for record in tree.members.values()]))
    return next((NotReady(SCHEDULER_ERROR, error, is_error=True) for error in errors if error), None)


def _premature(tree: Tree) -> NotReady | None:
    if tree.relies_on_promises:
        return NotReady(BEING_BOUND, "its pods are being bound; those that came later wait for the outcome")
    return next((hold for leaf in tree.leaves if (hold := expecting(leaf)) is not None), None)
