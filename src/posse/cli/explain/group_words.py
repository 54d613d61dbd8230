"""The state of a group as a word and as a sentence, for `posse gangs` and `posse explain`."""

from collections.abc import Iterator

from posse.cli.reading.ended_members import Fates
from posse.engine.explain.capacity_limits import NeverFits
from posse.engine.explain.group_status import GroupStatus, State
from posse.engine.explain.group_status import shown_state as state_of
from posse.engine.groups.forms import form_of
from posse.engine.keys import GroupKey
from posse.engine.reporting.messages import counted, preemption_text

FINISHED = State.FINISHED

_FITS = "it fits now; it has not been placed yet"
_NONE_LEFT = "none of its pods is left"
_SENTENCES = {
    FINISHED: "{who} has finished: {why}.",
    State.FAILED: "{who} has failed: {why}.",
    State.BELOW_MINIMUM: "{who} has started, but {left} now: {why}.",
    State.SCHEDULED: "{who} has started: {share}.",
    State.FITS: "{who} fits: it could start now{rest}. Its scheduler has not placed it yet.",
    State.WAITING_FOR_PODS: "{who} waits for pods: {why}.",
    State.WAITING_FOR_GROUP: "{who} cannot be tried: {why}. It is named by {members}.",
    State.GATED: "{who} is gated: {why}.",
    State.INVALID: "{who} cannot start as it is: {why}.",
    State.FOREIGN: "{who} is not scheduled by Posse: {why}. "
    "If that is Posse under another name, pass its --scheduler-name or --config.",
}


def shown_state(now: GroupStatus, fates: Fates) -> State:
    """The engine drops groups that only finished pods name; here they still count."""
    return state_of(now, fates.succeeded, fates.failed - fates.failed_preempted)


def has_minimum(now: GroupStatus) -> bool:
    there = now.groups.started if now.groups is not None else now.counts.on_nodes
    return there >= now.minimum


def cause(now: GroupStatus, fates: Fates) -> str:
    """One line: why the group or its remaining pods wait, and further remarks."""
    return "; ".join(filter(None, [_why(now, fates), *_remarks(now, fates)]))


def _remarks(now: GroupStatus, fates: Fates) -> Iterator[str]:
    if now.preempted and not has_minimum(now):
        yield f"it was {now.preempted}"
    if now.awaited:
        yield f"waits for {pods(now.awaited)} to terminate, preempted for it"
    if now.awaited_protection is not None:
        yield preemption_text(now.awaited_protection).removesuffix(".")
    number = now.counts.terminating
    if number:
        preempted = f"{fates.preempted} of them " if fates.preempted < number else ""
        ending = f", {preempted}preempted" if fates.preempted else ""
        yield f"{number} of its pods {'is' if number == 1 else 'are'} terminating{ending}"
    if now.is_being_deleted:
        naming = now.counts.members + fates.ended
        yield f"it is being deleted; {pods(naming)} still {'names' if naming == 1 else 'name'} it"


def _why(now: GroupStatus, fates: Fates) -> str:
    state = shown_state(now, fates)
    if state in {State.FINISHED, State.FAILED}:
        return _ended(now, fates)
    if state == State.FITS:
        return f"it would fit in what is free; its scheduler last said: {now.told}" if now.told else _FITS
    if state == State.SCHEDULED and not (now.counts.waiting or now.counts.gated):
        return ""
    if now.state == State.WAITING_FOR_PODS and fates.ended:
        return f"{_left(now)} left: {fates.in_words}"
    text = with_closures(next(iter(now.sentences), ""), now.out_of_reach)
    if now.reservation is None:
        return text
    return f"{text}; {counted(now.reservation.nodes, 'node')} reserved for {now.reservation.holder}"


def _ended(now: GroupStatus, fates: Fates) -> str:
    succeeded, failed = max(now.succeeded, fates.succeeded), max(now.failed, fates.failed)
    if not succeeded and not failed:
        return _NONE_LEFT
    counts = ((succeeded, "succeeded"), (failed, "failed"))
    return ", ".join(f"{pods(number)} {word}" for number, word in counts if number)


def with_closures(text: str, reach: NeverFits | None) -> str:
    """Add the closed nodes to a message about missing resources: those nodes may have enough."""
    if reach is None or all(one.reason in text for one in reach.closed):
        return text
    return f"{text}; closed: {closed_nodes(reach)}"


def closed_nodes(reach: NeverFits) -> str:
    return ", ".join(f"{one.nodes} {one.reason}" for one in reach.closed)


def headline(now: GroupStatus, fates: Fates) -> str:
    remarks = (f"{one[0].upper()}{one[1:]}." for one in _remarks(now, fates))
    return " ".join([_verdict(now, fates), *remarks])


def _verdict(now: GroupStatus, fates: Fates) -> str:
    state, why = shown_state(now, fates), _why(now, fates)
    sentence = _SENTENCES.get(state, "{who} waits: {why}.")
    if state == State.SCHEDULED and why:
        sentence = "{who} has started: {share}; {why}."
    elif why == _NONE_LEFT:
        # How its pods ended is not known.
        sentence = "{who} has started, and {why}."
    elif state == State.FITS and now.told:
        sentence = "{who} waits: {why}"
    return sentence.format(
        who=title(now.key),
        why=why,
        share=_share(now),
        left=_short(now),
        members=pods(now.counts.members),
        rest=_rest(now),
    )


def _short(now: GroupStatus) -> str:
    there = now.groups.started if now.groups is not None else now.counts.on_nodes
    if now.groups is not None and now.minimum == 1:
        return "none of its groups has its pods on nodes"
    what = "groups it needs have their pods" if now.groups is not None else "pods it needs are"
    return f"{f'only {there}' if there else 'none'} of the {now.minimum} {what} on nodes"


def title(key: GroupKey) -> str:
    if key.is_composite:
        return f"CompositePodGroup {key.namespace}/{key.name}"
    return form_of(key).title(key)


def pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"


def groups(number: int) -> str:
    return "1 group" if number == 1 else f"{number} groups"


def _left(now: GroupStatus) -> str:
    counts = now.counts
    there = counts.on_nodes + counts.waiting + counts.gated
    return f"{there or 'none'} of the {now.minimum} pods it needs {'is' if there == 1 else 'are'}"


def _share(now: GroupStatus) -> str:
    counts = now.counts
    if now.groups is not None:
        return f"{now.groups.started} of its {now.groups.children} groups have, and it needs {now.minimum}"
    if counts.on_nodes < counts.members:
        return f"{counts.on_nodes} of its {counts.members} pods are on nodes, and it needs {now.minimum}"
    return "its pod is on a node" if counts.members == 1 else f"all {counts.members} pods are on nodes"


def _rest(now: GroupStatus) -> str:
    left = now.counts.waiting - sum(number for _, number in now.placement)
    return f" without {pods(left)}" if left else ""
