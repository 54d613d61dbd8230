"""The whole story of a group or a pod: how it stands, what is in its way, and who comes before it.

The answer is that of an attempt made now, with everything taken back. What was tried before is not remembered here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from posse.engine.exact.remedy_problem import impasse_of
from posse.engine.explain.capacity_limits import NeverFits, out_of_reach
from posse.engine.explain.group_status import GroupStatus, as_if_its_turn, lasting_hold, situations
from posse.engine.explain.obstacles import Obstacle, obstacle
from posse.engine.explain.preemption import (
    HeldRoom,
    PreemptionStatus,
    held_against,
    room_for_group,
    room_for_pod,
)
from posse.engine.groups.admission import gates_of
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.intake.pod_events import claim_victims
from posse.engine.keys import GroupKey, PodRef
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.gang.domain_bounds import closest_domain
from posse.engine.placement.gang.domain_pin import domain_noun
from posse.engine.placement.search.fill import classes_of, fill
from posse.engine.placement_problem import RemedyProblem, Unadvised
from posse.engine.preemption.marks import described, for_whom
from posse.engine.state.draft import Draft
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.group_trial import GroupTrials
from posse.engine.trials.pod_trial import PodTrials

_MAX_OBSTACLES = 8
"""Classes of pods that are described one by one."""

Order = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class Ahead:
    """Who waits as well and has its turn earlier, being more important or older."""

    pods: int
    groups: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of a group."""

    situation: GroupStatus
    obstacles: tuple[Obstacle, ...] = ()
    """In the way of its classes of pods, in the order in which they are tried."""
    undescribed: int = 0
    """Further classes that find no node."""
    domain: str = ""
    """Of a group that must be in one domain: the one that comes closest to having room, to which obstacles refer."""
    ahead: Ahead | None = None
    """Where it is tried at all."""
    making_room: PreemptionStatus = field(default_factory=PreemptionStatus)
    held_rooms: tuple[HeldRoom, ...] = ()
    """Of those that wait for room: what they may not take, because it is made for others."""
    remedy_problem: RemedyProblem | Unadvised | None = None
    """What keeps it from starting, for whoever wants to look for a way out."""
    tree: tuple[GroupStatus, ...] = ()
    """All groups of the tree it is part of, from the root down."""


@dataclass(frozen=True, slots=True)
class PodExplanation:
    ref: PodRef
    priority: int
    group: GroupKey | None
    node: str
    """Where it is."""
    is_terminating: bool = False
    preemptor: str = ""
    """Whom it makes way for, in words."""
    held: str = ""
    """Why it is not tried by itself."""
    target: str = ""
    """Where it would go now."""
    obstacle: Obstacle | None = None
    out_of_reach: NeverFits | None = None
    making_room: PreemptionStatus = field(default_factory=PreemptionStatus)
    held_rooms: tuple[HeldRoom, ...] = ()
    """Of those that wait for room: what they may not take, because it is made for others."""
    ahead: Ahead | None = None


def explain(knowledge: Knowledge, trials: GroupTrials, key: GroupKey) -> Explanation | None:
    """None if nobody has heard of the group."""
    claim_victims(knowledge)
    group = root_of(knowledge.groups, knowledge.entry_of(key))
    found = tuple(situations(knowledge, group)) if group is not None else ()
    now = next((one for one in found if one.key == key), None)
    if group is None or now is None:
        return None
    is_tried = _is_tried(knowledge, group)
    obstacles = _obstacles(knowledge, group) if now.verdict is not None and is_tried else []
    return Explanation(
        now,
        tuple(obstacles[:_MAX_OBSTACLES]),
        undescribed=len(obstacles[_MAX_OBSTACLES:]),
        domain=_closest_domain(knowledge, group) if obstacles else "",
        ahead=_ahead(knowledge, _order_of(group)) if is_tried else None,
        making_room=room_for_group(knowledge, trials, group) if is_tried else PreemptionStatus(),
        held_rooms=held_against(knowledge, group.priority, group.members) if obstacles else (),
        remedy_problem=remedy_problem(knowledge, trials, group, key) if now.proof is not None else None,
        tree=found if group.key.is_composite else (),
    )


def all_situations(knowledge: Knowledge) -> Iterator[GroupStatus]:
    """How every group stands, in order of their first sight; those of a tree together."""
    claim_victims(knowledge)
    for key in knowledge.entries():
        root = root_of(knowledge.groups, key)
        if root is not None:
            yield from (_awaiting(knowledge, now) for now in situations(knowledge, root))


def _awaiting(knowledge: Knowledge, now: GroupStatus) -> GroupStatus:
    preemption = knowledge.ledger.get(now.key)
    return replace(now, awaited=len(preemption.left)) if preemption is not None else now


def explain_pod(knowledge: Knowledge, trials: PodTrials, uid: str) -> PodExplanation | None:
    """None if the pod is finished, gone, unreadable or not ours to know."""
    record = knowledge.pods.get(uid)
    if record is None:
        return None
    claim_victims(knowledge)
    reason = _not_tried(record)
    if reason or record.node:
        ends = bool(record.pod.metadata.deletion_timestamp)
        return PodExplanation(
            record.ref,
            record.priority,
            record.group,
            record.node,
            ends,
            _preemptor(knowledge, record),
            reason,
        )
    probe = trials.probe(record)
    with knowledge.nominations.held(record.priority, [uid]):
        scheduling_class = knowledge.state.scheduling_class(record)
        in_the_way = (
            None if probe.node else obstacle(knowledge.state, knowledge.groups, scheduling_class, [record], 0)
        )
        beyond = None if probe.node else out_of_reach(knowledge.state, [(scheduling_class, [record])], 0)
    return PodExplanation(
        record.ref,
        record.priority,
        record.group,
        "",
        target=probe.node,
        obstacle=in_the_way,
        out_of_reach=beyond,
        making_room=room_for_pod(knowledge, trials, record, probe.outcome),
        held_rooms=() if probe.node else held_against(knowledge, record.priority, [uid]),
        ahead=_ahead(knowledge, (-record.priority, record.created, record.arrival)),
    )


def _is_tried(knowledge: Knowledge, group: Root) -> bool:
    """Whether it waits for room, and for nothing else."""
    return bool(group.unattached()) and knowledge.is_ours(group) and lasting_hold(knowledge, group) is None


def _obstacles(knowledge: Knowledge, group: Root) -> list[Obstacle]:
    """What its classes meet when they are tried one after the other, as an attempt does first."""
    with as_if_its_turn(knowledge, group):
        closest = _closest(knowledge, group)
        if closest is None:
            return _obstacles_here(knowledge, group)
        with knowledge.state.confined(closest[1]):
            return _obstacles_here(knowledge, group)


def _obstacles_here(knowledge: Knowledge, group: Root) -> list[Obstacle]:
    state, found = knowledge.state, []
    draft = Draft(state)
    for leaf in group.leaves:
        for scheduling_class, records in classes_of(state, leaf.unattached()):
            fit = fill(state, draft, scheduling_class, records)
            if fit < len(records):
                found.append(obstacle(state, knowledge.groups, scheduling_class, records, fit))
    draft.roll_back()
    return found


def _closest(knowledge: Knowledge, group: Root) -> tuple[str, IntArray] | None:
    """The domain that comes closest to enough capacity; None where any node will do. A tree is looked at as a whole."""
    top = group.top
    if top is None or top.children or not top.topology_key:
        return None
    closest = closest_domain(knowledge.state, top)
    return (f"{domain_noun(top)} {closest[0]}", closest[1]) if closest is not None else None


def _closest_domain(knowledge: Knowledge, group: Root) -> str:
    with as_if_its_turn(knowledge, group):
        closest = _closest(knowledge, group)
    return closest[0] if closest is not None else ""


def remedy_problem(
    knowledge: Knowledge, trials: GroupTrials, group: Root, key: GroupKey
) -> RemedyProblem | Unadvised | None:
    """What keeps a refused group from starting, as numbers; of a tree that has started, one of its groups."""
    makes_room = trials.makes_room_for(group)
    with as_if_its_turn(knowledge, group):
        return impasse_of(knowledge.state, knowledge.groups, group, key, makes_room=makes_room)


def _preemptor(knowledge: Knowledge, victim: PodRecord) -> str:
    """Who waits for it to go; else whom its mark names, though that does not wait any more."""
    for who in knowledge.ledger.waiting_for(victim):
        if isinstance(who, GroupKey):
            root = root_of(knowledge.groups, who)
            return f"{described(who)}, priority {root.priority}" if root is not None else described(who)
        return f"{described(knowledge.pods[who].ref)}, priority {knowledge.pods[who].priority}"
    named = for_whom(victim.pod)
    return f"{named}, which does not wait for it any more" if named else ""


def _not_tried(record: PodRecord) -> str:
    pod = record.pod
    if pod.metadata.deletion_timestamp:
        return "it is being deleted"
    if pod.spec.scheduling_gates:
        return f"it has scheduling gates ({gates_of(pod)})"
    return "it is tried together with its group" if record.group is not None else ""


def _ahead(knowledge: Knowledge, own: Order) -> Ahead:
    alone = [
        record for record in knowledge.pods.values() if record.group is None and knowledge.is_waiting(record)
    ]
    pods = sum(1 for record in alone if (-record.priority, record.created, record.arrival) < own)
    keys = dict.fromkeys(knowledge.entry_of(group.key) for group in knowledge.groups)
    roots = (root_of(knowledge.groups, key) for key in keys)
    tried = [root for root in roots if root is not None and _is_tried(knowledge, root)]
    return Ahead(pods, sum(1 for group in tried if _order_of(group) < own))


def _order_of(group: Root) -> Order:
    """As the queue has it: by importance, then by the age of the oldest pod that waits."""
    oldest = group.unattached()[0]
    return -group.priority, oldest.created, oldest.arrival
