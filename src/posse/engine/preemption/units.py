"""What is evicted as one: a pod, or all pods of a group whose disruption mode is `all`.

Of a group in a tree, that is all pods below its highest ancestor of that mode.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

import msgspec

from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord

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
    started = min([record.pod.status.start_time or _NOT_YET for record in records])
    first = min(map(_arrival, records))
    # Of a unit either all pods are ending or none: who is ending draws nobody along.
    is_ending = records[0].is_ending
    importance = (is_ending, -priority, not is_tree, not is_group, -len(records), started, first)
    return Unit(tuple(records), priority, is_group, is_tree, importance)


by_importance = attrgetter("importance")
_arrival, _effective_priority = attrgetter("arrival"), attrgetter("effective_priority")


class LesserUnits(dict[PodRecord, Unit | None]):
    """By pod, the unit that it belongs to, if that is of a priority below the given one or ending anyway; otherwise None.

    Found out when it is asked for, once for all pods of a unit. As a dict, since hundreds are asked for in one search.
    """

    def __init__(self, priority: int, groups: GroupBook) -> None:
        super().__init__()
        self._priority = priority
        self._groups = groups

    def __missing__(self, record: PodRecord) -> Unit | None:
        whole = self._whole(record) or unit_of(
            (record,), record.effective_priority, is_group=record.group is not None
        )
        unit = whole if whole.priority < self._priority or whole.is_ending else None
        self.update(dict.fromkeys(whole.records, unit))
        return unit

    def _whole(self, record: PodRecord) -> Unit | None:
        """Of which it is a part; None if it goes by itself. Who is ending anyway draws nobody along."""
        key = record.group
        if key is None or not record.node or record.is_ending:
            return None
        above = self._groups.links.highest_as_one(key)
        if above is not None:
            keys = self._groups.links.below(above.key)
            return _all_of([group for one in keys if (group := self._groups.get(one))], is_tree=True)
        group = self._groups.get(key)
        return _all_of([group], is_tree=False) if group is not None and goes_as_one(group) else None


def _all_of(groups: Sequence[GroupRecord], *, is_tree: bool) -> Unit:
    """Members of a tree whose root is not known may stand differently; the most important speaks for all."""
    members = [r for group in groups for r in group.members.values() if r.node and not r.is_ending]
    priority = max(map(_effective_priority, members))
    return unit_of(members, priority, is_group=True, is_tree=is_tree)


def units_below(records: Iterable[PodRecord], priority: int, groups: GroupBook) -> list[Unit]:
    """The units that `records` belong to, of a priority below the given one or ending anyway, most important first."""
    lesser = LesserUnits(priority, groups)
    units = [unit for record in records if (unit := lesser[record]) is not None]
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
