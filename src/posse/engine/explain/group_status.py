"""How a group stands at this moment: started, held, or what an attempt to start it would give now.

Nothing is changed by asking. What stands in the way of a refused group, pod by pod, is in explaining.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from posse.engine.decisions import SCHEDULER_ERROR
from posse.engine.explain.capacity_limits import NeverFits, group_out_of_reach
from posse.engine.groups.admission import EXPECTING_PODS, INVALID, NotReady
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.tree import Root
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import Probe, probe_group
from posse.engine.placement.root import held_root
from posse.engine.verdict import Code, Proof
from posse.model.workload import PodGroup


class State(StrEnum):
    SCHEDULED = "Scheduled"
    FITS = "Fits"
    """It could start now; whoever schedules it has not done so yet."""
    WAITING = "Waiting"
    WAITING_FOR_PODS = "WaitingForPods"
    WAITING_FOR_GROUP = "WaitingForPodGroup"
    GATED = "Gated"
    INVALID = "Invalid"
    FOREIGN = "OtherScheduler"


_STATE_OF_HELD = {
    "WaitingForPodGroup": State.WAITING_FOR_GROUP,
    "WaitingForPods": State.WAITING_FOR_PODS,
    "SchedulingGated": State.GATED,
    SCHEDULER_ERROR: State.INVALID,
    INVALID: State.INVALID,
}


@dataclass(frozen=True, slots=True)
class Counts:
    """Of pods that are neither finished nor gone; `missing` are those short of the minimum that do not exist."""

    members: int
    on_nodes: int
    waiting: int
    """Without those that are gated."""
    gated: int
    missing: int
    terminating: int = 0
    """On nodes or not; those that are count as on nodes as well, until they are gone."""


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Of what is directly below a group of groups."""

    children: int
    started: int


@dataclass(frozen=True, slots=True)
class GroupStatus:
    key: GroupKey
    exists: bool
    """Whether there is an object that describes it."""
    policy: str
    minimum: int
    expected: int
    """How many pods a basic group says there will be; 0 if it does not say."""
    topology_key: str
    """The node label of which all members must have one value; empty if they may go anywhere."""
    priority: int
    counts: Counts
    has_started: bool
    """Its minimum was on nodes once, as far as the API tells."""
    has_fallen_short: bool
    """And has lost members since."""
    is_being_deleted: bool
    """What describes it is to go."""
    state: State
    message: str
    """Why it waits, or its further members do."""
    placement: tuple[tuple[str, int], ...] = ()
    """Where those that wait would go now: nodes, and how many pods."""
    proof: Proof | None = None
    """Of a refusal."""
    out_of_reach: NeverFits | None = None
    """Of a refusal that would be one in an empty cluster too."""
    depth: int = 0
    """How many groups of groups are above it."""
    fits: int = 0
    """Of a group in a tree that does not start: its pods or groups that are on nodes, or would be if only it mattered."""
    groups: GroupCounts | None = None
    """Of a group of groups, whose minimum is one of groups."""
    awaited: int = 0
    """Pods that were evicted for it and have not gone yet, where all groups are listed."""


def situation(knowledge: Knowledge, group: GroupRecord) -> GroupStatus:
    if group.members and not knowledge.is_ours(group):
        return situation_in(group, State.FOREIGN, left_to(group.scheduler_name))
    if group.attached_count >= group.minimum and not group.unattached():
        return situation_in(group, State.SCHEDULED, "")
    hold = lasting_hold(knowledge, group)
    if hold is not None:
        return situation_in(group, state_of(hold), hold.message)
    with as_if_its_turn(knowledge, group):
        probe = probe_group(knowledge.state, group)
    now = tried(situation_in(group, State.FITS, ""), probe)
    return (
        replace(now, out_of_reach=group_out_of_reach(knowledge.state, group)) if probe.verdict.proof else now
    )


def situation_of_ended(key: GroupKey, podgroup: PodGroup | None) -> GroupStatus:
    """Of a group that nobody knows any more, because all of its pods have ended."""
    return situation_in(GroupRecord(key, podgroup), State.WAITING_FOR_PODS, "")


def left_to(scheduler_name: str) -> str:
    return f"its pods are left to the scheduler {scheduler_name!r}"


def lasting_hold(knowledge: Knowledge, group: Root) -> NotReady | None:
    """Why it is not tried, unless that is over in a moment by itself: for how long it has been so, nobody wrote down."""
    hold = held_root(knowledge.groups, group)
    return None if hold is not None and hold.reason == EXPECTING_PODS else hold


@contextmanager
def as_if_its_turn(knowledge: Knowledge, group: Root) -> Iterator[None]:
    """Let the group meet what it would meet if it were tried: room is kept for some, and from others."""
    with (
        knowledge.starvation_guard.lifted_for(group.priority, group.key),
        knowledge.nominations.held(group.priority, group.members),
    ):
        yield


def state_of(hold: NotReady) -> State:
    return _STATE_OF_HELD.get(hold.reason, State.WAITING)


def tried(now: GroupStatus, probe: Probe) -> GroupStatus:
    """How it stands, with what came of an attempt."""
    nodes: dict[str, int] = {}
    for _, node in probe.placements:
        nodes[node] = nodes.get(node, 0) + 1
    state, message = State.FITS, ""
    if not probe.verdict.succeeded:
        state, message = State.WAITING, probe.verdict.message
    elif probe.refused:
        message = probe.refused[0][1].message
    there = now.groups.started if now.groups is not None else now.counts.on_nodes
    if probe.verdict.code is Code.ERROR:
        state = State.INVALID
    elif there >= now.minimum:
        state = State.SCHEDULED
    placement = tuple(sorted(nodes.items()))
    return replace(now, state=state, message=message, placement=placement, proof=probe.verdict.proof)


def situation_in(group: GroupRecord, state: State, message: str) -> GroupStatus:
    return GroupStatus(
        key=group.key,
        exists=group.podgroup is not None,
        policy=_policy(group),
        minimum=group.minimum,
        expected=group.expected,
        topology_key=group.topology_key,
        priority=group.priority,
        counts=counts_of(group),
        has_started=group.scheduled,
        has_fallen_short=group.has_fallen_short,
        is_being_deleted=group.podgroup is not None and bool(group.podgroup.metadata.deletion_timestamp),
        state=state,
        message=message,
    )


def _policy(group: GroupRecord) -> str:
    if group.podgroup is None:
        return ""
    return "Gang" if group.podgroup.spec.scheduling_policy.gang is not None else "Basic"


def counts_of(group: GroupRecord) -> Counts:
    on_nodes, unattached = group.attached_count, group.unattached()
    gated = sum(1 for record in unattached if record.pod.spec.scheduling_gates)
    return Counts(
        members=len(group.members),
        on_nodes=on_nodes,
        waiting=len(unattached) - gated,
        gated=gated,
        missing=max(0, group.minimum - on_nodes - len(unattached)),
        terminating=sum(1 for one in group.members.values() if one.pod.metadata.deletion_timestamp),
    )
