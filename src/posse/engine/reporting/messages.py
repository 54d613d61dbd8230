"""Messages for pods and groups, made from statements. Nothing parses them.

The sentences about causes and remedies are in the modules beside this one.
"""

import math
from collections.abc import Mapping, Sequence
from functools import singledispatch

from posse.engine.causes import NoNodeFits, is_about_capacity
from posse.engine.groups.group_record import LostMember
from posse.engine.placement_problem import Advice, Unadvised
from posse.engine.preemption.marks import described
from posse.engine.reporting.cause_messages import NO_NODES, cause_text
from posse.engine.reporting.remedy_messages import advice_text
from posse.engine.statement import AdvicePending, Reservation, Statement
from posse.engine.verdict import (
    GroupPreemption,
    NoCandidateNode,
    NodeChosen,
    NodesClearing,
    NominatedNodeBusy,
    NoVictims,
    PodPreemption,
    PreemptionForbidden,
    Verdict,
    VictimsChosen,
    VictimsProtected,
    VictimsTerminating,
)
from posse.model.timestamps import format_timestamp

_MAX_PRIORITIES = 3
_MAX_LOST = 3


def statement_text(statement: Statement) -> str:
    parts = [verdict_text(statement.verdict)]
    reservation = statement.reservation
    if reservation is not None and (reservation.holder is None or is_about_capacity(statement.verdict.cause)):
        parts.append(_reservation(reservation))
    if isinstance(statement.advice, Advice | Unadvised):
        parts.append(advice_text(statement.advice))
    return " ".join(part for part in parts if part)


def is_written(statement: Statement, text: str, message: str) -> bool:
    """Whether the API server already has this statement, from which `text` was made.

    After a restart only the message is known. While advice is pending, the message may end with advice that
    an earlier process found for the same refusal.
    """
    return message == text or (isinstance(statement.advice, AdvicePending) and message.startswith(f"{text} "))


def _reservation(reservation: Reservation) -> str:
    nodes = counted(reservation.nodes, "node")
    if reservation.holder is None:
        return f"Capacity on {nodes} is reserved for it."
    holder = f"pod group {reservation.holder}"
    if reservation.is_dated:
        passing = "what is expected to end before it starts may use it"
        return f"Capacity on {nodes} is reserved for {holder}; {passing}."
    return f"Capacity on {nodes} is reserved for {holder}; what is free of it counts as used."


def verdict_text(verdict: Verdict) -> str:
    if verdict.cause == NoNodeFits(0):
        # Word for word as kube-scheduler, which writes no full stop here.
        return NO_NODES
    text = cause_text(verdict.cause, verdict.proof)
    progress = verdict.preemption
    return f"{text} {_prefix(progress)}: {preemption_text(progress)}" if progress is not None else text


def _prefix(progress: PodPreemption | GroupPreemption) -> str:
    is_pod = isinstance(progress, NominatedNodeBusy | NoCandidateNode | NodeChosen)
    return "preemption" if is_pod or progress == PreemptionForbidden() else "pod group preemption"


@singledispatch
def preemption_text(progress: PodPreemption | GroupPreemption) -> str:
    raise TypeError(progress)


@preemption_text.register
def _(_progress: PreemptionForbidden) -> str:
    return "not eligible due to preemptionPolicy=Never."


@preemption_text.register
def _(_progress: NominatedNodeBusy) -> str:
    return "not eligible due to a terminating pod on the nominated node."


@preemption_text.register
def _(progress: NoCandidateNode) -> str:
    counts = (
        (progress.without_victims, "No preemption victims found for incoming pod"),
        (progress.nodes - progress.without_victims, "Preemption is not helpful for scheduling"),
    )
    reasons = sorted(f"{count} {reason}" for count, reason in counts if count)
    protected = f" {_capital(preemption_text(progress.protected))}" if progress.protected else ""
    return f"0/{progress.nodes} nodes are available: {', '.join(reasons)}.{protected}"


@preemption_text.register
def _(progress: NodeChosen) -> str:
    does = "waiting for those that terminate there"
    if progress.victims:
        does = f"preempting {counted(progress.victims, 'victim')}"
    return f"found a potential placement for pod on node {progress.node}, {does}"


@preemption_text.register
def _(_progress: NoVictims) -> str:
    return "no victims found whose eviction would let it start."


@preemption_text.register
def _(progress: VictimsProtected) -> str:
    """The time itself: a time from now on would not stay true."""
    who = described(progress.group)
    until = time_of_day(progress.until)
    if not progress.others:
        return f"{who} is protected by its minimum run time until {until}."
    others = counted(progress.others, "other group")
    return f"{who} and {others} are protected by their minimum run times, the last until {until}."


@preemption_text.register
def _(progress: VictimsChosen) -> str:
    victims = counted(progress.pods, "victim")
    if not progress.has_placement:
        return f"preempting {victims} for some of its pods, though it does not fit yet."
    among = f" ({counted(progress.groups, 'whole group')} among them)" if progress.groups else ""
    return f"found a placement for podgroup, preempting {victims}{among}."


@preemption_text.register
def _(progress: VictimsTerminating) -> str:
    groups = f"{counted(progress.groups, 'group')}, " if progress.groups else ""
    return f"preempting {groups}{counted(progress.pods, 'pod')}; waiting for {progress.left} to terminate."


@preemption_text.register
def _(progress: NodesClearing) -> str:
    return f"waiting for {counted(progress.pods, 'pod')} on its nodes to terminate."


def time_of_day(moment: float) -> str:
    """Of a moment that is less than a day away."""
    return format_timestamp(math.ceil(moment)).partition("T")[2]


def below_minimum_text(left: int, minimum: int, lost: Sequence[LostMember] = ()) -> str:
    """How many are left, and which were lost as far as that was seen."""
    shown = [f"{one.pod} on {one.node} {one.cause}" for one in lost[:_MAX_LOST]]
    rest = [f"{len(lost) - _MAX_LOST} more are gone"] if len(lost) > _MAX_LOST else []
    names = f" ({', '.join([*shown, *rest])})" if shown else ""
    return f"{left_text(left, minimum)}{names}; others start only if the minimum is reached again"


def other_priorities_text(examples: Mapping[int, str], own: int) -> str:
    """The priorities that members have, each with one pod that has it, and the one that counts."""
    shown = [f"{priority} ({pod})" for priority, pod in examples.items()]
    rest = f" and {len(shown) - _MAX_PRIORITIES} more" if len(shown) > _MAX_PRIORITIES else ""
    listed = ", ".join(shown[:_MAX_PRIORITIES]) + rest
    ignored = f"pods of this group state other priorities, which are ignored: {listed}"
    return f"{ignored}; that of the group, {own}, counts"


def left_text(left: int, minimum: int) -> str:
    return f"{left} of the {minimum} pods that must run together are left"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
