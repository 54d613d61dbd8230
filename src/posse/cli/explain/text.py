"""Explanations as text: the answer in one sentence, then details. Lines without indent are headings."""

from collections.abc import Iterator, Sequence

from posse.cli.explain.device_words import device_lines
from posse.cli.explain.exact_check import certainty
from posse.cli.explain.group_words import (
    closed_nodes,
    groups,
    has_minimum,
    headline,
    pods,
    shown_state,
    with_closures,
)
from posse.cli.explain.preemption_words import held_room, making_room
from posse.cli.explain.preference_words import preference_facts
from posse.cli.explain.queue_words import queue_text
from posse.cli.explain.run_time_words import run_time_facts
from posse.cli.explain.targets import short_name, typed
from posse.cli.explain.tree_picture import tree_lines
from posse.cli.reading.ended_members import Fates
from posse.cli.tables import aligned
from posse.engine.causes import NoNodeFits
from posse.engine.explain.capacity_limits import NeverFits
from posse.engine.explain.explanation import Explanation, PodExplanation
from posse.engine.explain.group_status import GroupStatus, State
from posse.engine.explain.obstacles import Obstacle
from posse.engine.groups.forms import form_of
from posse.engine.keys import GroupKey, PodRef
from posse.engine.placement_problem import Advice, RemedyProblem
from posse.engine.reporting.annotation_messages import annotation_text
from posse.engine.reporting.cause_messages import lack_text, shortfall_text
from posse.engine.reporting.messages import counted
from posse.engine.reporting.remedy_messages import (
    BEHIND,
    no_remedy_text,
    remedy_texts,
    too_large_text,
    unadvised_text,
    yields_capacity,
)
from posse.solver.remedies import remedies
from posse.writes.group_status import object_kind

MAX_NODES = 8
INDENT = "  "


def group_lines(
    explanation: Explanation, fates: Fates, age: str, more: Sequence[tuple[str, str]] = (), place: str = ""
) -> Iterator[str]:
    """The story of a group; `more` are facts that the engine does not know, such as its owner.

    `place` is its place in the queue as its scheduler has told it.
    """
    now = explanation.situation
    yield headline(now, fates)
    facts = [("described by", _described(now, age)), *more, ("pods", _counted(now, fates))]
    if explanation.ahead is not None:
        facts.append(("queue", place or queue_text(explanation.ahead, is_blocked=bool(explanation.reserved))))
    facts += [*preference_facts(now), *run_time_facts(explanation.run_time)]
    facts += [("not used", annotation_text(one)) for one in explanation.annotation_faults]
    if now.placement:
        facts.append(("would go to", _places(now.placement)))
    yield from indented(aligned(facts))
    if explanation.tree:
        yield from headed("Its tree", tree_lines(explanation.tree, now.key))
    if explanation.obstacles or now.proof is not None:
        where = f", in {explanation.domain}, which comes closest" if explanation.domain else ""
        yield from headed(f"What is in its way{where}", _in_the_way(explanation))
    yield from _holders(explanation.obstacles)
    yield from _room(explanation)
    yield from _advice(explanation)


def _advice(explanation: Explanation) -> Iterator[str]:
    now, ahead = explanation.situation, explanation.ahead
    match explanation.remedy_problem:
        case RemedyProblem() as problem:
            found = remedies(problem)
            ways = remedy_texts(found, problem.demands) if found is not None else []
            if ways:
                what = "more of its pods start" if has_minimum(now) else "it start"
                yield from headed(f"Each of these would let {what}", ways)
                if found is not None and yields_capacity(found) and ahead is not None and ahead.may_be_any:
                    yield from indented([f"{BEHIND}."])
            elif found is not None:
                asked = problem.problem
                none = Advice(found, problem.demands, bool(asked.domains), bool(asked.mix_of))
                yield from headed("What would let it start", [no_remedy_text(none)])
        case None if now.depth and now.state is State.WAITING:
            root = explanation.tree[0].key
            command = f"posse explain {typed(root)} -n {root.namespace}"
            yield from headed("What would let its tree start", [command])
        case None:
            pass
        case unadvised:
            yield from headed("What would let it start", [unadvised_text(unadvised)])


def pod_lines(pod: PodExplanation) -> Iterator[str]:
    who = f"Pod {pod.ref.namespace}/{pod.ref.name}"
    if pod.node:
        yield f"{who} is on node {pod.node}{_leaving(pod)}."
    elif pod.held:
        yield f"{who} waits: {pod.held}."
    elif pod.target:
        yield f"{who} fits: it could start on {pod.target} now. Its scheduler has not placed it yet."
    elif pod.obstacle is not None:
        yield f"{who} waits: it {_missed(pod.obstacle, pod.out_of_reach)}."
    facts = [("priority", str(pod.priority))]
    if pod.ahead is not None:
        facts.append(("queue", queue_text(pod.ahead, is_blocked=bool(pod.reserved))))
    yield from indented(aligned(facts))
    if pod.obstacle is not None:
        reach = pod.out_of_reach
        beyond = [_beyond(reach, [pod.obstacle], "it")] if reach is not None else []
        yield from headed("What is in its way", [*_details(pod.obstacle), *beyond])
        yield from _holders([pod.obstacle])
    yield from _room(pod)


def _leaving(pod: PodExplanation) -> str:
    if pod.preemptor:
        return f", and is being deleted to make way for {pod.preemptor}"
    return ", and is being deleted" if pod.is_terminating else ""


def _room(told: Explanation | PodExplanation) -> Iterator[str]:
    if isinstance(told, Explanation) and told.reserved_for_it:
        where = counted(told.reserved_for_it, "node")
        yield from headed("Capacity reserved for it", [f"on {where}, so that others do not starve it"])
    if told.reserved:
        yield from headed("Capacity reserved for others", held_room(told.reserved))
    if told.making_room.progress is not None:
        yield from headed("Preemption", making_room(told.making_room))


def _missed(obstacle: Obstacle, reach: NeverFits | None) -> str:
    sentence = lack_text(obstacle.shortfall)
    cause = obstacle.shortfall.cause
    if isinstance(cause, NoNodeFits) and cause.is_precondition:
        return f"{sentence}: {cause.refusals[0].reason}"
    if obstacle.resource or not obstacle.refusals:
        return with_closures(sentence, reach)
    return f"{sentence}: {', '.join(f'{one.nodes} {one.reason}' for one in obstacle.refusals)}"


def headed(heading: str, lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    yield ""
    yield heading
    yield from indented(lines)


def indented(lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    return (f"{INDENT}{line}" for line in lines)


def _described(now: GroupStatus, age: str) -> str:
    if not now.exists:
        return "nothing yet"
    kind = object_kind(now.key).name
    if not form_of(now.key).is_implied:
        kind += f" of {now.key.form}"
    many = groups(now.minimum) if now.groups is not None else f"{now.minimum}"
    size = f", at least {many} together" if now.policy == "Gang" else ""
    if now.expected:
        size = f", {pods(now.expected)} expected"
    if now.topology_key:
        size += f", all in one {now.topology_key}"
    return f"{kind}: {now.policy}{size}, priority {now.priority}, created {age} ago"


def _counted(now: GroupStatus, fates: Fates) -> str:
    counts = now.counts
    staying = counts.members - counts.waiting - counts.gated - counts.terminating
    is_over = shown_state(now, fates) in {State.FINISHED, State.FAILED}
    parts = [
        (staying, "on nodes"),
        (counts.terminating, "terminating"),
        (counts.waiting, "waiting"),
        (counts.gated, "gated"),
        (0 if is_over else counts.missing - fates.ended, "missing"),
        (fates.failed, "failed"),
        (fates.succeeded, "succeeded"),
    ]
    return f"{counts.members + fates.ended}: " + (
        ", ".join(f"{n} {word}" for n, word in parts if n > 0) or "none"
    )


def _places(placement: Sequence[tuple[str, int]]) -> str:
    shown = [f"{node} ({pods(number)})" for node, number in placement[:MAX_NODES]]
    rest = len(placement) - MAX_NODES
    return ", ".join(shown) + (f" and {rest} more nodes" if rest > 0 else "")


def _in_the_way(explanation: Explanation) -> Iterator[str]:
    now, is_only_one = explanation.situation, len(explanation.obstacles) == 1
    if not explanation.obstacles and now.topology_key:
        yield "all of its pods would fit in the whole cluster, but not in one domain of its topology key"
    for obstacle in explanation.obstacles:
        alike = f"{pods(obstacle.number)} like {obstacle.example.name} ({_asked(obstacle)})"
        # If all pods are alike, the headline already says what they lack.
        others = (
            f"{obstacle.number - obstacle.fit} would not"
            if is_only_one
            else shortfall_text(obstacle.shortfall)
        )
        yield f"{alike}: {obstacle.fit} would fit, {others}"
        yield from indented(_details(obstacle))
    if explanation.undescribed:
        yield f"pods of {explanation.undescribed} other classes find no node either"
    if now.out_of_reach is not None:
        yield _beyond(now.out_of_reach, explanation.obstacles)
    if sentence := certainty(explanation):
        yield sentence


def _beyond(reach: NeverFits, obstacles: Sequence[Obstacle], of: str = "one of its pods") -> str:
    if reach.too_large is not None:
        return f"{too_large_text(reach.too_large, of)}."
    if not reach.closed:
        whole = f"any {reach.domain}" if reach.domain else "the cluster"
        return f"It is larger than {whole}: too few of its pods would fit even if nothing else ran there."
    closed = closed_nodes(reach)
    if obstacles and not any(one.resource or one.fit for one in obstacles):
        return f"No node would take {of}, even if it were empty; closed: {closed}."
    return f"It would not fit on the nodes open to it even if nothing else ran there; closed: {closed}."


def _asked(obstacle: Obstacle) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in obstacle.requests) or "no requests"


def _details(obstacle: Obstacle) -> Iterator[str]:
    counted = [
        ("1 node" if one.nodes == 1 else f"{one.nodes} nodes", one.reason, one.rule)
        for one in obstacle.refusals
    ]
    yield from aligned(counted)
    if obstacle.closest:
        rooms = [f"{room.node} has {room.free} of {room.capacity}" for room in obstacle.closest]
        placed = ", once those that fit are placed" if obstacle.fit else ""
        yield f"closest{placed}: {', '.join(rooms)} {obstacle.resource} free"
    yield from device_lines(obstacle.devices)


def _holders(obstacles: Sequence[Obstacle]) -> Iterator[str]:
    """List each resource once, even if several classes of pods lack it."""
    for resource in dict.fromkeys(one.resource for one in obstacles if one.holders):
        holders = next(one.holders for one in obstacles if one.resource == resource)
        rows = [
            (_name(one.who), f"{one.amount} with {pods(one.pods)}", f"priority {one.priority}")
            for one in holders
        ]
        yield from headed(f"Users of {resource}, on nodes that have too little of it left", aligned(rows))


def _name(who: GroupKey | PodRef) -> str:
    if isinstance(who, PodRef):
        return f"pod {who.namespace}/{who.name}"
    return f"{object_kind(who).singular} {who.namespace}/{short_name(who)}"
