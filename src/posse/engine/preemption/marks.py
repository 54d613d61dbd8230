"""The mark that victims carry, and for whom it says they leave.

It is text for people, on the victim itself. As nothing else tells after a restart who was evicted for whom, it is also read.
Other schedulers name nobody in it.
"""

from posse.engine.groups.forms import DISRUPTION_TARGET
from posse.engine.keys import GroupKey, GroupRef, PodRef
from posse.model.pod import Pod

PREEMPTION = "PreemptionByScheduler"
_FOR = "preempting to accommodate a higher priority "


def mark_for(preemptor: PodRef | GroupRef) -> str:
    who = preemptor.key if isinstance(preemptor, GroupRef) else preemptor
    return f"{preemptor.scheduler_name}: {_FOR}{described(who)}"


def described(who: PodRef | GroupKey) -> str:
    """Of what kind it is and how it is called."""
    if isinstance(who, PodRef):
        return f"pod {who.namespace}/{who.name}"
    kind = "compositepodgroup" if who.is_composite else "podgroup"
    return f"{kind} {who._replace(is_composite=False)}"


def was_preempted(pod: Pod) -> bool:
    """It had to make room; other disruptions have other reasons."""
    return bool(_marks(pod))


def for_whom(pod: Pod) -> str:
    """As in `described`; empty if it is no victim, or nobody is named."""
    names = (message.partition(_FOR)[2] for message in _marks(pod))
    return next((name for name in names if "/" in name), "")


def _marks(pod: Pod) -> list[str]:
    return [
        one.message
        for one in pod.status.conditions
        if (one.type, one.status, one.reason) == (DISRUPTION_TARGET, "True", PREEMPTION)
    ]
