"""A summary of the engine's knowledge for people: counts, and one line per group."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from posse.engine.explain.group_status import GroupStatus, State, shown_parts, shown_state, standing
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.queue.backlog import QueueState

_AT_REST = frozenset({State.SCHEDULED, State.FINISHED})


@dataclass(frozen=True, slots=True)
class GroupSummary:
    key: GroupKey
    attached: int
    minimum: int
    members: int
    """For a composite group, its direct children; likewise for the two fields above."""
    state: str
    """The name of its situation, as in `posse gangs`."""
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
    for now, (part, depth) in zip(standing(knowledge, root), shown_parts(root), strict=True):
        nodes = sorted(dict.fromkeys(record.node for record in part.members.values() if record.node))
        yield replace(_summary(now), priority=part.priority, depth=depth, nodes=tuple(nodes))


def _summary(now: GroupStatus) -> GroupSummary:
    state = shown_state(now)
    there, members = now.counts.on_nodes, now.counts.members
    if now.groups is not None:
        there, members = now.groups.started, now.groups.children
    message = "" if state in _AT_REST else "; ".join(filter(None, (now.message, now.preempted)))
    return GroupSummary(now.key, there, now.minimum, members, state, message)
