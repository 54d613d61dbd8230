"""Sentences about why a group is not tried yet."""

from functools import singledispatch

from posse.engine.causes import (
    BindingsInFlight,
    ExpectedPods,
    GatedPods,
    GroupAbsent,
    HoldCause,
    InvalidGroup,
    LacksGroups,
    LacksPods,
)
from posse.engine.groups.admission import WAITING_FOR_PODS, NotReady
from posse.engine.groups.forms import form_of
from posse.engine.groups.part import Part, Root
from posse.engine.reporting.cause_messages import sentences
from posse.engine.reporting.invalid_messages import problem_text


def hold_text(hold: NotReady) -> str:
    return _text(hold.cause)


def hold_of_part(root: Root, part: Part, hold: NotReady) -> str:
    """Why this part is not tried, with its tree: a lack of the tree need not be a lack of the part."""
    if hold.reason != WAITING_FOR_PODS or part.key == root.key:
        return hold_text(hold)
    if (lack := part.lack) is not None and not part.is_admissible:
        return _text(lack)
    return f"its own are all there, but of composite pod group {root.key.name} {hold_text(hold)}"


@singledispatch
def _text(cause: HoldCause) -> str:
    raise TypeError(cause)


@_text.register
def _(cause: LacksPods | LacksGroups) -> str:
    return sentences(cause)[0]


@_text.register
def _(cause: GroupAbsent) -> str:
    if cause.key.is_composite:
        return f"CompositePodGroup {cause.key.name} does not exist yet"
    return form_of(cause.key).absence(cause.key, cause.siblings)


@_text.register
def _(cause: GatedPods) -> str:
    named = [f"{name} ({', '.join(gates)})" for name, gates in cause.pods]
    count, rest = len(cause.pods) + cause.others, f" and {cause.others} more" if cause.others else ""
    verb, where = "has" if count == 1 else "have", f"in pod group {cause.group} " if cause.group else ""
    return f"{where}{count} of its pods {verb} scheduling gates: {', '.join(named)}{rest}"


@_text.register
def _(cause: ExpectedPods) -> str:
    exist = f"{cause.present} of the {cause.expected} pods it expects exist"
    return f"{exist}; in a moment it is tried with those"


@_text.register
def _(_cause: BindingsInFlight) -> str:
    return "its pods are being bound; those that came later wait for the outcome"


@_text.register
def _(cause: InvalidGroup) -> str:
    return problem_text(cause.problem)
