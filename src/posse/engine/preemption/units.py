"""What is evicted as one: a pod, or all pods of a group whose disruption mode is `all`.

Of a group in a tree, that is all pods below its highest ancestor of that mode.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from posse.engine.cluster_state import PodRecord
from posse.engine.decisions import GroupKey
from posse.engine.groups import GroupBook, GroupRecord

Importance = tuple[bool, int, bool, bool, int, str, int]


class Unit(msgspec.Struct, frozen=True, eq=False):
    """Made by the hundred while one pod looks for room, which a dataclass takes ten times longer for."""

    records: tuple[PodRecord, ...]
    priority: int
    is_group: bool
    """Whether its pods belong to a group, evicted one by one or not."""
    is_tree: bool
    """Whether they belong to several groups, all below one that is evicted as a whole."""
    importance: Importance
    """Sorts the most important first: by priority, trees before groups before pods, larger before smaller, older first.

    Who is ending anyway comes after all others.
    """

    @property
    def is_ending(self) -> bool:
        """Whether it leaves without being evicted."""
        return self.importance[0]

    @property
    def started(self) -> str:
        """When its oldest pod started; text that sorts by time, and last while it has not started."""
        return self.importance[5]


_NOT_YET = "~"
"""Later than any time, as text."""


def unit_of(records: Sequence[PodRecord], priority: int, *, is_group: bool, is_tree: bool = False) -> Unit:
    started, first = _NOT_YET, records[0].arrival if records else 0
    for record in records:
        since = record.pod.status.start_time
        if since and since < started:
            started = since
        first = min(first, record.arrival)
    # Of a unit either all pods are ending or none: who is ending draws nobody along.
    is_ending = bool(records) and records[0].is_ending
    importance = (is_ending, -priority, not is_tree, not is_group, -len(records), started, first)
    return Unit(tuple(records), priority, is_group, is_tree, importance)


def by_importance(unit: Unit) -> Importance:
    return unit.importance


def priority_of(record: PodRecord, groups: GroupBook) -> int:
    """A member of a group counts with the priority of the group, and in a tree with that of the root."""
    group = groups.get(record.group) if record.group is not None else None
    root = groups.links.root(group.key) if group is not None else None
    if root is not None:
        return root.priority
    if group is not None and group.podgroup is not None:
        return group.priority
    return record.pod.spec.priority or 0


class _GroupSeen(NamedTuple):
    priority: int | None
    """None where it does not state one for its members."""
    whole: Unit | None
    """None where members go one by one."""


class LesserUnits:
    """The units of a priority below the given one. Each group is looked at once, however many of its pods are asked for."""

    def __init__(self, priority: int, groups: GroupBook) -> None:
        self._priority = priority
        self._groups = groups
        self._seen: dict[int, _GroupSeen | None] = {}
        """By the identity of the key: all members share one, and nothing is found faster."""
        self._trees: dict[GroupKey, Unit] = {}
        """Of composites that go as one, by their key."""

    def of(self, record: PodRecord) -> Unit | None:
        """The unit that the pod belongs to; None if it matters too much.

        Who is ending anyway draws nobody along.
        """
        group = self._group(record.group) if record.group is not None else None
        if group is not None and group.whole is not None and not record.is_ending:
            return group.whole if group.whole.priority < self._priority else None
        priority = record.priority if group is None or group.priority is None else group.priority
        return unit_of((record,), priority, is_group=bool(group)) if priority < self._priority else None

    def _group(self, key: GroupKey) -> _GroupSeen | None:
        if id(key) not in self._seen:
            self._seen[id(key)] = self._look_at(key)
        return self._seen[id(key)]

    def _look_at(self, key: GroupKey) -> _GroupSeen | None:
        group = self._groups.get(key)
        if group is None:
            return None
        root, above = self._groups.links.root(key), self._groups.links.highest_as_one(key)
        # Of a large group that states none the priority follows from all members.
        priority = group.priority if group.podgroup is not None else None
        if root is not None:
            priority = root.priority
        whole: Unit | None = None
        if above is not None and priority is not None:
            whole = self._trees.get(above.key) or self._tree(above.key, priority)
        elif priority is not None and goes_as_one(group):
            members = [member for member in group.members.values() if member.node and not member.is_ending]
            whole = unit_of(members, priority, is_group=True)
        return _GroupSeen(priority, whole)

    def _tree(self, key: GroupKey, priority: int) -> Unit:
        groups = [self._groups.get(one) for one in self._groups.links.below(key)]
        records = [record for group in groups if group for record in group.members.values()]
        members = [record for record in records if record.node and not record.is_ending]
        unit = self._trees[key] = unit_of(members, priority, is_group=True, is_tree=True)
        return unit


def units_below(records: Iterable[PodRecord], priority: int, groups: GroupBook) -> list[Unit]:
    """The units that `records` belong to, of a priority below the given one, most important first."""
    lesser = LesserUnits(priority, groups)
    units = [unit for record in records if (unit := lesser.of(record)) is not None]
    return sorted({id(unit): unit for unit in units}.values(), key=by_importance)


def goes_as_one(group: GroupRecord) -> bool:
    mode = group.podgroup.spec.disruption_mode if group.podgroup is not None else None
    return mode is not None and mode.all is not None


def evicted_with(key: GroupKey, groups: GroupBook) -> list[GroupKey]:
    """The groups that go as one with this one, which may be one of many in a tree; none if its pods go one by one."""
    group, above = groups.get(key), groups.links.highest_as_one(key)
    if above is not None:
        return groups.links.below(above.key)
    return [key] if group is not None and goes_as_one(group) else []
