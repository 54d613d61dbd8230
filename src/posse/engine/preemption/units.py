"""What is evicted as one: a pod, or all pods of a group whose disruption mode is `all`.

Of a group in a tree, that is all pods below its highest ancestor of that mode.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

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
    started = min([record.pod.status.start_time or _NOT_YET for record in records], default=_NOT_YET)
    first = min([record.arrival for record in records], default=0)
    # Of a unit either all pods are ending or none: who is ending draws nobody along.
    is_ending = bool(records) and records[0].is_ending
    importance = (is_ending, -priority, not is_tree, not is_group, -len(records), started, first)
    return Unit(tuple(records), priority, is_group, is_tree, importance)


by_importance = attrgetter("importance")


class LesserUnits:
    """The units of a priority below the given one. Each group is looked at once, however many of its pods are asked for."""

    def __init__(self, priority: int, groups: GroupBook) -> None:
        self._priority = priority
        self._groups = groups
        self._wholes: dict[int, Unit | None] = {}
        """By the identity of the key of a group: all members share one, and nothing is found faster. None where
        members go one by one."""
        self._trees: dict[GroupKey, Unit] = {}
        """Of composites that go as one, by their key."""

    def of(self, record: PodRecord) -> Unit | None:
        """The unit that the pod belongs to; None if it matters too much.

        Who is ending anyway draws nobody along.
        """
        if record.standing >= self._priority:
            return None
        key = record.group
        whole = self._whole(key) if key is not None and not record.is_ending else None
        if whole is None:
            return unit_of((record,), record.standing, is_group=key is not None)
        return whole if whole.priority < self._priority else None

    def _whole(self, key: GroupKey) -> Unit | None:
        if id(key) not in self._wholes:
            self._wholes[id(key)] = self._look_at(key)
        return self._wholes[id(key)]

    def _look_at(self, key: GroupKey) -> Unit | None:
        above = self._groups.links.highest_as_one(key)
        if above is not None:
            return self._trees.get(above.key) or self._tree(above.key)
        group = self._groups.get(key)
        return _all_of([group], is_tree=False) if group is not None and goes_as_one(group) else None

    def _tree(self, key: GroupKey) -> Unit:
        groups = [group for one in self._groups.links.below(key) if (group := self._groups.get(one))]
        unit = self._trees[key] = _all_of(groups, is_tree=True)
        return unit


def _all_of(groups: Sequence[GroupRecord], *, is_tree: bool) -> Unit:
    """Members of a tree whose root is not known may stand differently; the most important speaks for all."""
    members = [r for group in groups for r in group.members.values() if r.node and not r.is_ending]
    priority = max([record.standing for record in members], default=0)
    return unit_of(members, priority, is_group=True, is_tree=is_tree)


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
