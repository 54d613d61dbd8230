"""Whether a group may be tried at all: what it still waits for, and what is wrong with it."""

from dataclasses import dataclass

from posse.engine.decisions import SCHEDULER_ERROR
from posse.engine.group_forms import absence
from posse.engine.groups import GroupRecord
from posse.model.pod import Pod

PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"

BEING_BOUND = "BeingBound"
INVALID = "Invalid"
WAITING_FOR_GROUP = "WaitingForPodGroup"
WAITING_FOR_PODS = "WaitingForPods"
EXPECTING_PODS = "ExpectingPods"

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Held:
    """The group is not tried. Only an error is worth telling every member."""

    reason: str
    message: str
    is_error: bool = False

    @property
    def told_to_pods(self) -> str:
        """The reason that pods are given: for them there is but one sort of error."""
        return SCHEDULER_ERROR if self.is_error else self.reason


def held(group: GroupRecord) -> Held | None:
    """Why the group is not tried now; None when it may be."""
    podgroup = group.podgroup
    if podgroup is None:
        return Held(WAITING_FOR_GROUP, absence(group.key, group.siblings))
    too_few = too_few_pods(group)
    if too_few:
        return Held(WAITING_FOR_PODS, too_few)
    gated = gated_members(group)
    if gated:
        return Held("SchedulingGated", gated)
    error = contradiction(group)
    if error:
        return Held(SCHEDULER_ERROR, error, is_error=True)
    if group.relies_on_promises:
        return Held(BEING_BOUND, "its pods are being bound; those that came later wait for the outcome")
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


def expecting(group: GroupRecord) -> Held | None:
    """A group that says how many pods it will have waits for them, but not for long."""
    if group.gathered or not group.expected:
        return None
    present = group.attached_count + len(group.unattached())
    if present < group.expected:
        message = (
            f"{present} of the {group.expected} pods it expects exist; in a moment it is tried with those"
        )
        return Held(EXPECTING_PODS, message)
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
