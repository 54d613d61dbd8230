"""The condition that marks a victim, with the name of its preemptor.

The message is text for people on the victim itself. After a restart it is also read, because nothing else
says which preemptor a victim was evicted for. Other schedulers name no preemptor.
"""

from msgspec.structs import replace

from posse.engine.groups.forms import DISRUPTION_TARGET
from posse.engine.keys import GroupKey, GroupRef, PodRef
from posse.model.pod import Pod

PREEMPTION = "PreemptionByScheduler"
_FOR = "preempting to accommodate a higher priority "
_MADE_ROOM_FOR = "stopped by an operator to make room for "


def mark_for(preemptor: PodRef | GroupRef) -> str:
    who = preemptor.key if isinstance(preemptor, GroupRef) else preemptor
    return f"{preemptor.scheduler_name}: {_FOR}{described(who)}"


def mark_by_operator(group: GroupKey) -> str:
    """The mark of a gang that is stopped for a group, whatever their priorities."""
    return f"posse plan: {_MADE_ROOM_FOR}{described(group)}"


def described(who: PodRef | GroupKey) -> str:
    """Kind and name."""
    if isinstance(who, PodRef):
        return f"pod {who.namespace}/{who.name}"
    kind = "compositepodgroup" if who.is_composite else "podgroup"
    return f"{kind} {replace(who, is_composite=False)}"


def was_preempted(pod: Pod) -> bool:
    """Whether the pod is a victim of preemption; other disruptions have other reasons."""
    return bool(_marks(pod))


def preemptor_named(pod: Pod) -> str:
    """Preemptor of the pod as in `described`; empty if it is no victim or the mark names none."""
    return next(filter(None, map(preemptor_in, _marks(pod))), "")


def preemptor_in(message: str) -> str:
    """Preemptor in the message of a mark, as in `described`; empty if it names none."""
    name = message.partition(_FOR)[2] or message.partition(_MADE_ROOM_FOR)[2]
    return name if "/" in name else ""


def room_made_for(pod: Pod) -> str:
    """The group, as in `described`, for which an operator stops the pod; empty if none does."""
    return next((one.partition(_MADE_ROOM_FOR)[2] for one in _marks(pod) if _MADE_ROOM_FOR in one), "")


def _marks(pod: Pod) -> list[str]:
    return [
        one.message
        for one in pod.status.conditions
        if (one.type, one.status, one.reason) == (DISRUPTION_TARGET, "True", PREEMPTION)
    ]
