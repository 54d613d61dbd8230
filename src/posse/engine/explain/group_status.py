"""Status of groups: started, not ready, or the outcome of an attempt made now.

Queries change nothing. The obstacles of a refused group, pod by pod, are in explanation.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from posse.engine.causes import LacksMembers, is_about_capacity
from posse.engine.decisions import SCHEDULER_ERROR
from posse.engine.explain.capacity_limits import NeverFits, group_out_of_reach
from posse.engine.groups.admission import EXPECTING_PODS, INVALID, NotReady, not_ready
from posse.engine.groups.group_record import PREEMPTED, GroupRecord
from posse.engine.groups.part import Part, Root
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.groups.tree import MAX_LEVELS
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import Probe
from posse.engine.placement.tree.attempt import probe_placement
from posse.engine.preemption.marks import preemptor_in
from posse.engine.proof import Proof
from posse.engine.queue.starvation_guard import ends_by
from posse.engine.reporting.cause_messages import proven_sentences
from posse.engine.reporting.hold_messages import hold_of_part
from posse.engine.reporting.messages import verdict_text
from posse.engine.statement import Reservation
from posse.engine.verdict import SUCCESS, Code, Verdict, VictimsProtected
from posse.model.workload import PodGroup


class State(StrEnum):
    SCHEDULED = "Scheduled"
    FITS = "Fits"
    """It could start now; its scheduler has not started it yet."""
    WAITING = "Waiting"
    WAITING_FOR_PODS = "WaitingForPods"
    WAITING_FOR_GROUP = "WaitingForPodGroup"
    GATED = "Gated"
    INVALID = "Invalid"
    FOREIGN = "OtherScheduler"
    BELOW_MINIMUM = "BelowMinimum"
    """It has started, and has fewer pods on nodes than its minimum."""
    FINISHED = "Finished"
    FAILED = "Failed"


_STATE_OF_HELD = {
    "WaitingForPodGroup": State.WAITING_FOR_GROUP,
    "WaitingForPods": State.WAITING_FOR_PODS,
    "SchedulingGated": State.GATED,
    SCHEDULER_ERROR: State.INVALID,
    INVALID: State.INVALID,
}


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of pods that are neither finished nor deleted.

    Pods that are `missing` do not exist, but the minimum needs them.
    """

    members: int
    on_nodes: int
    waiting: int
    """Without gated pods."""
    gated: int
    missing: int
    terminating: int = 0
    """Terminating pods; those on nodes are also counted there until they are gone."""


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Counts of the direct children of a composite group."""

    children: int
    started: int


@dataclass(frozen=True, slots=True)
class GroupStatus:
    key: GroupKey
    exists: bool
    """Whether an object describes it."""
    policy: str
    minimum: int
    expected: int
    """How many pods a basic group says there will be; 0 if it does not say."""
    topology_key: str
    """Node label whose value all members must share; empty if they may go anywhere."""
    preferred_topology: tuple[str, ...]
    """Node labels whose values members share if possible, the widest first; without those no node has."""
    minimum_run_seconds: float
    """How long it runs before it may be preempted."""
    priority: int
    counts: Counts
    has_started: bool
    """Its minimum was on nodes once, as far as the API shows."""
    is_finishing: bool
    """Members have succeeded, so that fewer than the minimum are no loss."""
    is_disrupted: bool
    """It is marked as evicted as a whole, or evicted pods of it are still there."""
    preempted: str
    """By what it was evicted as a whole, and when, if it does not run again and its object tells."""
    is_being_deleted: bool
    """The object that describes it is being deleted."""
    state: State
    hold: str = ""
    """Why it is not tried."""
    verdict: Verdict | None = None
    """The refusal of the group; for a starting group, the refusal of the first pod it starts without."""
    placement: tuple[tuple[str, int], ...] = ()
    """Target nodes of waiting pods, with the number of pods."""
    proof: Proof | None = None
    """The proof of the group's refusal."""
    out_of_reach: NeverFits | None = None
    """Set if it would be refused in an empty cluster too."""
    depth: int = 0
    """Number of composite groups above it."""
    fits: int = 0
    """For a refused group in a tree.

    Its pods or groups that are on nodes, or would be without the rest of the tree.
    """
    groups: GroupCounts | None = None
    """For a composite group, whose minimum counts groups."""
    succeeded: int = 0
    """Members that have succeeded and are not deleted yet."""
    failed: int = 0
    told: str = ""
    """What its scheduler last said of it, if it refused it."""
    reservation: Reservation | None = None
    """Capacity that is reserved for another group, and counts as used for this one."""
    protected_until: float = 0.0
    """Until when it is not preempted because of that; 0 if it may be."""
    awaited: int = 0
    """Victims evicted for it that have not left yet, where all groups are listed."""
    awaited_protection: VictimsProtected | None = None
    """What it could preempt later, where all groups are listed."""

    @property
    def message(self) -> str:
        """Why it waits, or why its further members do."""
        return verdict_text(self.verdict) if self.verdict is not None else self.hold

    @property
    def sentences(self) -> list[str]:
        """Sentences of the message, without full stops."""
        if self.verdict is None:
            return [self.hold] if self.hold else []
        return proven_sentences(self.verdict.cause, self.verdict.proof)


def shown_state(now: GroupStatus, succeeded: int = 0, failed: int = 0) -> State:
    """The one name of its situation. Finished members may be known that the engine has dropped."""
    succeeded, failed = max(now.succeeded, succeeded), max(now.failed, failed)
    if not now.counts.members and (succeeded or failed):
        has_run = succeeded and (now.has_started or succeeded >= now.minimum)
        return State.FINISHED if has_run else State.FAILED
    there = now.groups.started if now.groups is not None else now.counts.on_nodes
    if there >= now.minimum:
        return State.SCHEDULED if now.has_started or now.state is not State.FITS else now.state
    if not now.has_started or now.state in {State.INVALID, State.FOREIGN}:
        return now.state
    if not now.counts.members and not now.is_disrupted:
        # Nothing of it is left that could wait.
        return State.FINISHED
    if not there:
        return State.WAITING_FOR_PODS if now.state is State.SCHEDULED else now.state
    waits = now.counts.waiting + now.counts.gated > 0
    is_loss = now.policy == "Gang" and (waits or not now.is_finishing) and not now.is_being_deleted
    return State.BELOW_MINIMUM if is_loss else State.SCHEDULED


def standing(knowledge: Knowledge, root: Root) -> Iterator[GroupStatus]:
    """Status of a tree as it was last reported, depth first from the root; nothing is tried."""
    parts = list(shown_parts(root))
    hold = not_ready(knowledge.groups, root)
    if root.members and not knowledge.is_ours(root):
        message = f"its pods are left to the scheduler {root.scheduler_name!r}"
        yield from (_status(part, depth, State.FOREIGN, message) for part, depth in parts)
    elif hold is not None:
        yield from (_held(root, part, depth, hold) for part, depth in parts)
    else:
        yield from (_as_reported(root, part, depth) for part, depth in parts)


def _as_reported(root: Root, part: Part, depth: int) -> GroupStatus:
    if _rests(root, part):
        return _status(part, depth, State.SCHEDULED, "")
    reported = part.record.reported
    # It may have its own pods, and wait for those of another group of its tree.
    lacks_pods = not part.is_admissible or reported.reason == State.WAITING_FOR_PODS
    state = State.WAITING_FOR_PODS if lacks_pods else _STATE_OF_HELD.get(reported.reason, State.WAITING)
    return _status(part, depth, state, reported.message)


def situations(knowledge: Knowledge, root: Root) -> Iterator[GroupStatus]:
    """Status of a tree, depth first from the root."""
    parts = list(shown_parts(root))
    if root.members and not knowledge.is_ours(root):
        message = f"its pods are left to the scheduler {root.scheduler_name!r}"
        yield from (_status(part, depth, State.FOREIGN, message) for part, depth in parts)
    elif all(_rests(root, part) for part, _ in parts):
        yield from (_status(part, depth, State.SCHEDULED, "") for part, depth in parts)
    elif (hold := lasting_hold(knowledge, root)) is not None:
        yield from (_held(root, part, depth, hold) for part, depth in parts)
    else:
        with as_if_its_turn(knowledge, root):
            probe = probe_placement(knowledge.state, root)
        yield from (_probed(knowledge, root, part, depth, probe) for part, depth in parts)


def situation_of_ended(key: GroupKey, podgroup: PodGroup | None) -> GroupStatus:
    """Status of a group that is unknown by now, because all of its pods have finished."""
    return _status(GroupRecord(key, podgroup), 0, State.WAITING_FOR_PODS, "")


def lasting_hold(knowledge: Knowledge, root: Root) -> NotReady | None:
    """Why it is not tried, unless that passes in a moment; its start time is not recorded."""
    hold = not_ready(knowledge.groups, root)
    return None if hold is not None and hold.reason == EXPECTING_PODS else hold


@contextmanager
def as_if_its_turn(knowledge: Knowledge, group: Root) -> Iterator[None]:
    """Apply the reservations that the group would meet if it were tried."""
    guard = knowledge.starvation_guard
    with (
        guard.lifted_for(group.priority, group.key, ends_by(guard, knowledge.run_times, group)),
        knowledge.nominations.held(group.waiting_priorities[-1], group.members),
    ):
        yield


def shown_parts(root: Root) -> Iterator[tuple[Part, int]]:
    """All parts with their depth; last the parts that are too deep for a tree."""
    shown: dict[GroupKey, None] = {}
    for top in root.tops:
        for part, depth in _below(top, 0):
            shown[part.key] = None
            yield part, depth
    yield from ((part, MAX_LEVELS + 1) for part in root.parts if part.key not in shown)


def _below(part: Part, depth: int) -> Iterator[tuple[Part, int]]:
    yield part, depth
    for child in part.children:
        yield from _below(child, depth + 1)


def _rests(root: Root, part: Part) -> bool:
    """Whether it has started and none of its pods waits.

    A finished group counts as started in its tree; by itself it lacks pods.
    """
    has_ended_alone = part.is_over and part is root.top
    return part.is_started and not has_ended_alone and not part.unattached()


def _held(root: Root, part: Part, depth: int, hold: NotReady) -> GroupStatus:
    if _rests(root, part):
        return _status(part, depth, State.SCHEDULED, "")
    state = _STATE_OF_HELD.get(hold.reason, State.WAITING)
    return _status(part, depth, state, hold_of_part(root, part, hold))


def _probed(knowledge: Knowledge, root: Root, part: Part, depth: int, probe: Probe) -> GroupStatus:
    if _rests(root, part):
        return _status(part, depth, State.SCHEDULED, "")
    now = _tried(_status(part, depth, State.FITS, ""), _share(part, probe))
    if now.verdict is not None and is_about_capacity(now.verdict.cause):
        now = replace(now, reservation=_met(knowledge, root))
    fits = next((one.fits for one in probe.parts if one.key == part.key), 0)
    if now.proof is None or root.key.is_composite:
        return replace(now, fits=fits)
    return replace(now, out_of_reach=group_out_of_reach(knowledge.state, part))


def is_held_back_alone(knowledge: Knowledge, root: Root, reservation: Reservation | None) -> bool:
    """Whether the group would fit but for reservations with a time, so that other changes help little.

    What is added or freed may be reserved as well. A shorter run time helps.
    """
    if reservation is None or not reservation.is_dated:
        return False
    with (
        knowledge.starvation_guard.lifted_for_short(),
        knowledge.nominations.held(root.waiting_priorities[-1], root.members),
    ):
        return probe_placement(knowledge.state, root).verdict.succeeded


def _met(knowledge: Knowledge, root: Root) -> Reservation | None:
    """The first reservation for another group that it met."""
    guard = knowledge.starvation_guard
    met = guard.reservation_against(root.priority, root.key, ends_by(guard, knowledge.run_times, root))
    return met if met is not None and met.holder is not None else None


def _share(part: Part, probe: Probe) -> Probe:
    """The share of this part in an attempt for the tree."""
    members = part.members
    own = {refusal.key: refusal.verdict for refusal in probe.parts}
    verdict = own.get(part.key, SUCCESS if probe.verdict.succeeded else probe.verdict)
    return Probe(
        verdict,
        tuple((record, node) for record, node in probe.placements if record.ref.uid in members),
        tuple((record, why) for record, why in probe.refused if record.ref.uid in members),
    )


def _tried(now: GroupStatus, probe: Probe) -> GroupStatus:
    """The status, with the outcome of an attempt."""
    nodes: dict[str, int] = {}
    for _, node in probe.placements:
        nodes[node] = nodes.get(node, 0) + 1
    state, verdict = State.FITS, None
    if not probe.verdict.succeeded:
        lacks_pods = isinstance(probe.verdict.cause, LacksMembers)
        state, verdict = State.WAITING_FOR_PODS if lacks_pods else State.WAITING, probe.verdict
    elif probe.refused:
        verdict = probe.refused[0][1]
    there = now.groups.started if now.groups is not None else now.counts.on_nodes
    if probe.verdict.code is Code.ERROR:
        state = State.INVALID
    elif there >= now.minimum:
        state = State.SCHEDULED
    placement = tuple(sorted(nodes.items()))
    return replace(now, state=state, verdict=verdict, placement=placement, proof=probe.verdict.proof)


def _status(part: Part, depth: int, state: State, hold: str) -> GroupStatus:
    record = part.record
    policy = "Gang" if record.is_gang else "Basic"
    groups = GroupCounts(len(part.children), part.started_count) if part.key.is_composite else None
    return GroupStatus(
        key=part.key,
        exists=record.obj is not None,
        policy=policy if record.obj is not None else "",
        minimum=part.minimum,
        expected=part.expected,
        topology_key=part.topology_key,
        preferred_topology=() if part.key.is_composite else part.leaves[0].preferred_topology,
        minimum_run_seconds=0.0 if part.key.is_composite else part.leaves[0].minimum_run_seconds,
        priority=part.priority,
        counts=_counts(part),
        has_started=record.scheduled,
        is_finishing=any(leaf.has_completed_members for leaf in part.leaves),
        succeeded=sum(list(leaf.ended.values()).count("Succeeded") for leaf in part.leaves),
        failed=sum(list(leaf.ended.values()).count("Failed") for leaf in part.leaves),
        is_disrupted=record.is_disrupted or any(PREEMPTED in leaf.ended.values() for leaf in part.leaves),
        preempted=_preempted(record),
        is_being_deleted=record.is_being_deleted,
        state=state,
        hold=hold,
        depth=depth,
        groups=groups,
        told="" if record.scheduled else record.reported.message,
    )


def _preempted(record: ReportedObject) -> str:
    mark = record.disruption
    if mark is None or mark.status != "True":
        return ""
    by, at = preemptor_in(mark.message) or mark.message, mark.last_transition_time
    return f"preempted{f' by {by}' if by else ''}{f' at {at}' if at else ''}"


def _counts(part: Part) -> Counts:
    unattached, leaves = part.unattached(), part.leaves
    gated = sum(1 for record in unattached if record.pod.spec.scheduling_gates)
    present = ((leaf, leaf.attached_count + len(leaf.unattached())) for leaf in leaves)
    return Counts(
        members=len(part.members),
        on_nodes=sum(leaf.attached_count for leaf in leaves),
        waiting=len(unattached) - gated,
        gated=gated,
        missing=sum(max(0, leaf.minimum - there) for leaf, there in present),
        terminating=sum(1 for one in part.members.values() if one.pod.metadata.deletion_timestamp),
    )
