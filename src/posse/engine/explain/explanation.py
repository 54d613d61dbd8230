"""Explanation of a group or a pod: its status, its obstacles, and the entries ahead of it.

The answer is that of an attempt made now and rolled back. Earlier attempts are not stored here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from posse.engine.exact.remedy_problem import remedy_problem_of, room_problem_of
from posse.engine.explain.capacity_limits import NeverFits, out_of_reach
from posse.engine.explain.group_status import (
    GroupStatus,
    as_if_its_turn,
    is_held_back_alone,
    lasting_hold,
    situations,
)
from posse.engine.explain.obstacles import Obstacle, obstacle
from posse.engine.explain.preemption import (
    PreemptionStatus,
    ReservedCapacity,
    held_against,
    preemption_for_group,
    preemption_for_pod,
)
from posse.engine.explain.queue_order import Ahead, ahead_of
from posse.engine.groups.admission import gates_of
from posse.engine.groups.annotations import PREFERRED_TOPOLOGY, AnnotationFault, AnnotationProblem, fault
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
from posse.engine.preemption.awaited_protection import STEPS_OF_A_QUERY
from posse.engine.preemption.marks import described, preemptor_named
from posse.engine.queue.run_times import UNKNOWN_RUN_TIME, ExpectedRunTime
from posse.engine.queue.starvation_guard import ends_by
from posse.engine.state.draft import Draft
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.group_trial import GroupTrials
from posse.engine.trials.pod_trial import PodTrials

_MAX_OBSTACLES = 8
"""Classes of pods that are described one by one."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation of a group."""

    situation: GroupStatus
    obstacles: tuple[Obstacle, ...] = ()
    """Obstacles of its classes of pods, in the order in which they are tried."""
    undescribed: int = 0
    """Further classes that find no node."""
    domain: str = ""
    """For a group confined to one domain: the one closest to enough capacity, to which obstacles refer."""
    ahead: Ahead | None = None
    """Entries ahead of it, if it is tried at all."""
    making_room: PreemptionStatus = field(default_factory=PreemptionStatus)
    reserved: tuple[ReservedCapacity, ...] = ()
    """For entries that wait for capacity: capacity that is reserved for others."""
    reserved_for_it: int = 0
    """Nodes with capacity that is reserved for the group because it has waited long."""
    remedy_problem: RemedyProblem | Unadvised | None = None
    """The input of a search for remedies."""
    run_time: ExpectedRunTime = UNKNOWN_RUN_TIME
    annotation_faults: tuple[AnnotationFault, ...] = ()
    """What is wrong with its annotations of Posse, which then are not used."""
    tree: tuple[GroupStatus, ...] = ()
    """All groups of the tree it is part of, from the root down."""


@dataclass(frozen=True, slots=True)
class PodExplanation:
    ref: PodRef
    priority: int
    group: GroupKey | None
    node: str
    """The node it is on."""
    is_terminating: bool = False
    preemptor: str = ""
    """The preemptor, as text."""
    held: str = ""
    """Why it is not tried by itself."""
    target: str = ""
    """The node it would be placed on now."""
    obstacle: Obstacle | None = None
    out_of_reach: NeverFits | None = None
    making_room: PreemptionStatus = field(default_factory=PreemptionStatus)
    reserved: tuple[ReservedCapacity, ...] = ()
    """For entries that wait for capacity: capacity that is reserved for others."""
    ahead: Ahead | None = None


def explain(knowledge: Knowledge, trials: GroupTrials, key: GroupKey) -> Explanation | None:
    """The explanation; None if the group is unknown."""
    claim_victims(knowledge)
    knowledge.awaited_protection.allow(STEPS_OF_A_QUERY)
    group = root_of(knowledge.groups, knowledge.entry_of(key))
    told = situations(knowledge, group) if group is not None else ()
    found = tuple(_preferring(knowledge, one) for one in told)
    now = next((one for one in found if one.key == key), None)
    if group is None or now is None:
        return None
    is_tried = _is_tried(knowledge, group)
    is_advised = now.proof is not None and not is_held_back_alone(knowledge, group, now.reservation)
    obstacles = _obstacles(knowledge, group) if now.verdict is not None and is_tried else []
    return Explanation(
        now,
        tuple(obstacles[:_MAX_OBSTACLES]),
        undescribed=len(obstacles[_MAX_OBSTACLES:]),
        domain=_closest_domain(knowledge, group) if obstacles else "",
        ahead=ahead_of(knowledge, group.key) if is_tried else None,
        making_room=preemption_for_group(knowledge, trials, group) if is_tried else PreemptionStatus(),
        reserved=held_against(knowledge, group, group.members) if obstacles else (),
        reserved_for_it=_reserved_for(knowledge, group),
        remedy_problem=remedy_problem(knowledge, trials, group, key) if is_advised else None,
        run_time=knowledge.run_times.of_root(group),
        annotation_faults=tuple(_annotation_faults(knowledge, group, key)),
        tree=found if group.key.is_composite else (),
    )


def _annotation_faults(knowledge: Knowledge, group: Root, key: GroupKey) -> Iterator[AnnotationFault]:
    """Nodes with a label may come, so only an explanation says that there are none."""
    for record in group.records:
        yield from record.annotation_faults if record.key == key else ()
    members = [record for leaf in group.leaves if leaf.key == key for record in leaf.members.values()]
    of_jobs = (knowledge.run_times.jobs.of(record).fault for record in members[:1])
    yield from (one for one in of_jobs if one is not None)
    keys = (label for leaf in group.leaves if leaf.key == key for label in leaf.preferred_topology)
    for label in dict.fromkeys(keys):
        if not len(knowledge.state.domains(label)):
            yield fault(PREFERRED_TOPOLOGY, label, AnnotationProblem.UNKNOWN_LABEL)


def all_situations(knowledge: Knowledge, trials: GroupTrials) -> Iterator[GroupStatus]:
    """The status of every group, in order of first sight; those of a tree together."""
    claim_victims(knowledge)
    knowledge.awaited_protection.allow(STEPS_OF_A_QUERY)
    for key in knowledge.entries():
        root = root_of(knowledge.groups, key)
        if root is not None:
            for now in situations(knowledge, root):
                yield _awaiting(knowledge, trials, root, _preferring(knowledge, now))


def _preferring(knowledge: Knowledge, now: GroupStatus) -> GroupStatus:
    """The status, with its preferences as far as they are in force."""
    keys = tuple(key for key in now.preferred_topology if len(knowledge.state.domains(key)))
    run = knowledge.run_protection.runs.get(now.key)
    return replace(now, preferred_topology=keys, protected_until=run.until if run is not None else 0.0)


def _awaiting(knowledge: Knowledge, trials: GroupTrials, root: Root, now: GroupStatus) -> GroupStatus:
    """The status, with what its preemption waits for."""
    preemption = knowledge.ledger.get(now.key)
    if preemption is not None:
        return replace(now, awaited=len(preemption.left))
    if not knowledge.run_protection.runs or now.key != root.key or now.proof is None:
        return now
    with as_if_its_turn(knowledge, root):
        held = trials.protected_victims(root, is_fruitless=not trials.could_evict(root))
    return replace(now, awaited_protection=held)


def explain_pod(knowledge: Knowledge, trials: PodTrials, uid: str) -> PodExplanation | None:
    """The explanation; None if the pod is finished, deleted, unreadable or not known to this scheduler."""
    record = knowledge.pods.get(uid)
    if record is None:
        return None
    claim_victims(knowledge)
    knowledge.awaited_protection.allow(STEPS_OF_A_QUERY)
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
    guard = knowledge.starvation_guard
    end = ends_by(guard, knowledge.run_times, record)
    with guard.lifted_for(record.priority, uid, end):
        probe = trials.probe(record)
    with (
        guard.lifted_for(record.priority, uid, end),
        knowledge.nominations.held(record.priority, [uid]),
    ):
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
        making_room=preemption_for_pod(knowledge, trials, record, probe.outcome),
        reserved=() if probe.node else held_against(knowledge, record, [uid]),
        ahead=ahead_of(knowledge, uid),
    )


def _is_tried(knowledge: Knowledge, group: Root) -> bool:
    """Whether it waits for capacity only."""
    return bool(group.unattached()) and knowledge.is_ours(group) and lasting_hold(knowledge, group) is None


def _obstacles(knowledge: Knowledge, group: Root) -> list[Obstacle]:
    """Obstacles of its classes when they are tried in turn, like the first pass of an attempt."""
    with as_if_its_turn(knowledge, group), knowledge.state.in_name_order():
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
    """The domain closest to enough capacity; None where any node is allowed. A tree is taken as a whole."""
    top = group.top
    if top is None or top.children or not top.topology_key:
        return None
    closest = closest_domain(knowledge.state, top)
    return (f"{domain_noun(top)} {closest[0]}", closest[1]) if closest is not None else None


def _reserved_for(knowledge: Knowledge, group: Root) -> int:
    own = [one for one in knowledge.starvation_guard.reservations if one.key == group.key]
    return sum(int(one.rows.size) for one in own)


def _closest_domain(knowledge: Knowledge, group: Root) -> str:
    with as_if_its_turn(knowledge, group):
        closest = _closest(knowledge, group)
    return closest[0] if closest is not None else ""


def remedy_problem(
    knowledge: Knowledge, trials: GroupTrials, group: Root, key: GroupKey
) -> RemedyProblem | Unadvised | None:
    """The remedy problem of a refused group; in a started tree, of one of its groups."""
    preempts = trials.preempts_for(group)
    with as_if_its_turn(knowledge, group):
        return remedy_problem_of(knowledge.state, knowledge.groups, group, key, preempts=preempts)


def room_problem(knowledge: Knowledge, key: GroupKey) -> RemedyProblem | Unadvised | None:
    """Which gangs could be stopped for a group; None if it is not there or does not wait."""
    group = root_of(knowledge.groups, knowledge.entry_of(key))
    if group is None or not group.unattached():
        return None
    with as_if_its_turn(knowledge, group):
        return room_problem_of(knowledge.state, knowledge.groups, group)


def _preemptor(knowledge: Knowledge, victim: PodRecord) -> str:
    """The preemptor that waits for it; else the one named by its mark, even if it waits no longer."""
    for who in knowledge.ledger.waiting_for(victim):
        if isinstance(who, GroupKey):
            root = root_of(knowledge.groups, who)
            return f"{described(who)}, priority {root.priority}" if root is not None else described(who)
        return f"{described(knowledge.pods[who].ref)}, priority {knowledge.pods[who].priority}"
    named = preemptor_named(victim.pod)
    return f"{named}, which does not wait for it any more" if named else ""


def _not_tried(record: PodRecord) -> str:
    pod = record.pod
    if pod.metadata.deletion_timestamp:
        return "it is being deleted"
    if pod.spec.scheduling_gates:
        return f"it has scheduling gates ({', '.join(gates_of(pod))})"
    return "it is tried together with its group" if record.group is not None else ""
