"""A summary of the engine's knowledge for people: counts, and one line per group."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from posse.engine.explain.group_status import shown_parts
from posse.engine.groups.admission import WAITING_FOR_PODS, NotReady, not_ready
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part, Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.queue.backlog import QueueState
from posse.engine.reporting.messages import left_text
from posse.engine.reporting.parts import BELOW_MINIMUM


@dataclass(frozen=True, slots=True)
class GroupSummary:
    key: GroupKey
    attached: int
    minimum: int
    members: int
    """For a composite group, its direct children; likewise for the two fields above."""
    state: str
    """Scheduled, Finished, BelowMinimum, Waiting (ready, but does not fit), or why it is not tried."""
    message: str
    priority: int = 0
    depth: int = 0
    """Number of composite groups above it."""
    nodes: tuple[str, ...] = ()
    """Nodes of its pods, sorted."""


@dataclass(frozen=True, slots=True)
class Overview:
    nodes: int
    pods_on_nodes: int
    pods_waiting: int
    queue: dict[QueueState, int]
    groups: tuple[GroupSummary, ...]
    """By name of the root; those of a tree from the root down."""


def overview(knowledge: Knowledge) -> Overview:
    on_nodes = sum(1 for record in knowledge.pods.values() if record.node)
    roots = [root for key in knowledge.entries() if (root := root_of(knowledge.groups, key)) is not None]
    roots.sort(key=lambda root: str(root.key))
    return Overview(
        nodes=len(knowledge.state.nodes),
        pods_on_nodes=on_nodes,
        pods_waiting=len(knowledge.pods) - on_nodes,
        queue=knowledge.backlog.counts(),
        groups=tuple(line for root in roots for line in _lines(knowledge, root)),
    )


def _lines(knowledge: Knowledge, root: Root) -> Iterator[GroupSummary]:
    hold = not_ready(knowledge.groups, root)
    leaves = {leaf.key: leaf for leaf in root.leaves}
    for part, depth in shown_parts(root):
        leaf = leaves.get(part.key)
        line = _summary(leaf, hold) if leaf is not None else _summary_of_branch(part, hold)
        nodes = sorted(dict.fromkeys(record.node for record in part.members.values() if record.node))
        yield replace(line, priority=part.priority, depth=depth, nodes=tuple(nodes))


def _summary_of_branch(branch: Part, hold: NotReady | None) -> GroupSummary:
    state, message = ("Waiting", branch.record.reported.message)
    started = branch.started_count
    if started >= branch.minimum:
        state, message = ("Scheduled", "")
    elif hold is not None:
        state, message = (hold.reason, hold.message)
    return GroupSummary(branch.key, started, branch.minimum, len(branch.children), state, message)


def _summary(group: GroupRecord, hold: NotReady | None) -> GroupSummary:
    state, message = ("Waiting", group.reported.message)
    if group.scheduled and group.attached_count >= group.minimum:
        state, message = ("Scheduled", "")
    elif group.has_completed_members and not group.members:
        state, message = ("Finished", "")
    elif group.has_fallen_short and (hold is None or hold.reason == WAITING_FOR_PODS):
        state, message = (BELOW_MINIMUM, left_text(group.attached_count, group.minimum))
    elif hold is not None:
        state, message = (hold.reason, hold.message)
    return GroupSummary(group.key, group.attached_count, group.minimum, len(group.members), state, message)
