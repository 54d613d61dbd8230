"""What a group is told about the room that is made for it: who leaves, and how many of them are still there."""

import re

from posse.engine.preemption.group_search import EvictionPlan
from posse.engine.preemption.ledger import Preemption

_SENTENCE = re.compile(r"pod group preemption: [^.]*\.")


def sentence(text: str) -> str:
    return f"pod group preemption: {text}."


def evicting(room: EvictionPlan) -> str:
    victims = counted(sum(len(unit.records) for unit in room.victims), "victim")
    if not room.places:
        return f"preempting {victims} for some of its pods, though it does not fit yet"
    whole = sum(1 for unit in room.victims if len(unit.records) > 1)
    groups = f" ({counted(whole, 'whole group')} among them)" if whole else ""
    return f"found a placement for podgroup, preempting {victims}{groups}"


def waiting_for(preemption: Preemption) -> str:
    groups = f"{counted(len(preemption.groups), 'group')}, " if preemption.groups else ""
    pods = counted(len(preemption.victims), "pod")
    return f"preempting {groups}{pods}; waiting for {len(preemption.left)} to terminate"


def renewed(message: str, preemption: Preemption) -> str:
    """The same message with how many are left by now, where it speaks of a preemption."""
    return _SENTENCE.sub(lambda _: sentence(waiting_for(preemption)), message)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
