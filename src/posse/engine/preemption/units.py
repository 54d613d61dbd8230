"""What is evicted as one: a pod, or all pods of a group whose disruption mode is `all`."""

from collections.abc import Iterable
from dataclasses import dataclass

from posse.engine.cluster_state import PodRecord
from posse.engine.decisions import GroupKey
from posse.engine.groups import GroupBook, GroupRecord


@dataclass(frozen=True, slots=True)
class Unit:
    records: tuple[PodRecord, ...]
    priority: int
    is_group: bool
    """Whether its pods belong to a group, evicted one by one or not."""

    @property
    def started(self) -> str:
        """When its oldest pod started; text that sorts by time, and last while it has not started."""
        return min((record.pod.status.start_time or _NOT_YET for record in self.records), default=_NOT_YET)

    def importance(self) -> tuple[int, bool, int, str, int]:
        """Sorts the most important first: by priority, groups before pods, larger before smaller, older first."""
        first = min(record.arrival for record in self.records)
        return -self.priority, not self.is_group, -len(self.records), self.started, first


_NOT_YET = "~"
"""Later than any time, as text."""


def priority_of(record: PodRecord, groups: GroupBook) -> int:
    """A member of a group counts with the priority of the group."""
    group = groups.get(record.group) if record.group is not None else None
    if group is not None and group.podgroup is not None:
        return group.priority
    return record.pod.spec.priority or 0


def units_below(records: Iterable[PodRecord], priority: int, groups: GroupBook) -> list[Unit]:
    """The units that `records` belong to, of a priority below the given one, most important first."""
    units: dict[GroupKey | str, Unit] = {}
    priorities: dict[GroupKey, int] = {}
    for record in records:
        group = groups.get(record.group) if record.group is not None else None
        if group is not None and group.key in units:
            continue
        if group is None:
            unit_priority = record.priority
        elif group.key not in priorities:
            # Of a large group that states none it follows from all members, so it is not asked for again.
            unit_priority = priorities[group.key] = priority_of(record, groups)
        else:
            unit_priority = priorities[group.key]
        if unit_priority >= priority:
            continue
        if group is not None and goes_as_one(group):
            members = tuple(member for member in group.members.values() if member.node)
            units[group.key] = Unit(members, unit_priority, is_group=True)
        else:
            units[record.ref.uid] = Unit((record,), unit_priority, is_group=group is not None)
    return sorted(units.values(), key=Unit.importance)


def goes_as_one(group: GroupRecord) -> bool:
    mode = group.podgroup.spec.disruption_mode if group.podgroup is not None else None
    return mode is not None and mode.all is not None
