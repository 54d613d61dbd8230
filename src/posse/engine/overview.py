"""A summary of the engine's knowledge for people: counts, and one line per group."""

from dataclasses import dataclass

from posse.engine.admissibility import WAITING_FOR_PODS, held
from posse.engine.backlog import Place
from posse.engine.decisions import GroupKey
from posse.engine.groups import GroupRecord
from posse.engine.intake import Intake
from posse.engine.reports import BELOW_MINIMUM


@dataclass(frozen=True, slots=True)
class GroupSummary:
    key: GroupKey
    attached: int
    minimum: int
    members: int
    state: str
    """Scheduled, Finished, BelowMinimum, Waiting (it can be tried, but does not fit), or why it is not tried."""
    message: str


@dataclass(frozen=True, slots=True)
class Overview:
    nodes: int
    pods_on_nodes: int
    pods_waiting: int
    queue: dict[Place, int]
    groups: tuple[GroupSummary, ...]


def overview(known: Intake) -> Overview:
    on_nodes = sum(1 for record in known.pods.values() if record.node)
    return Overview(
        nodes=len(known.state.nodes),
        pods_on_nodes=on_nodes,
        pods_waiting=len(known.pods) - on_nodes,
        queue=known.backlog.counts(),
        groups=tuple(_summary(group) for group in sorted(known.groups, key=lambda g: str(g.key))),
    )


def _summary(group: GroupRecord) -> GroupSummary:
    hold = held(group)
    state, message = ("Waiting", group.reported[1])
    if group.scheduled and group.attached_count >= group.minimum:
        state, message = ("Scheduled", "")
    elif group.has_completed_members and not group.members:
        state, message = ("Finished", "")
    elif group.has_fallen_short and (hold is None or hold.reason == WAITING_FOR_PODS):
        left = f"{group.attached_count} of the {group.minimum} pods that must run together are left"
        state, message = (BELOW_MINIMUM, left)
    elif hold is not None:
        state, message = (hold.reason, hold.message)
    return GroupSummary(group.key, group.attached_count, group.minimum, len(group.members), state, message)
