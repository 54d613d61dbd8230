"""An evictable unit: a pod, or all pods of a group whose disruption mode is `all`.

For a group in a tree, these are all pods below its highest ancestor of that mode.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter

import msgspec

from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord, dependents_of

Importance = tuple[bool, int, bool, bool, int, str, int]


class Unit(msgspec.Struct, frozen=True, eq=False):
    """Created by the hundred in one search for victims, where a dataclass takes ten times longer."""

    records: tuple[PodRecord, ...]
    priority: int
    is_group: bool
    """Whether its pods belong to a group, evicted one by one or not."""
    is_tree: bool
    """Whether they belong to several groups, all below one that is evicted as a whole."""
    wholeness: int
    """0 for a pod by itself, 1 for a group that is evicted as a whole, 2 for a tree.

    -1 for the rest of either whose eviction has begun: it does not run without its other pods.
    """
    dependents: int
    """Other pods that go with it because one of its pods owns them."""
    importance: Importance
    """Sort key, highest first.

    By priority, trees before groups before pods, larger before smaller (with the pods that they own), older
    first.

    Terminating units come last.
    """

    @property
    def is_ending(self) -> bool:
        """Whether it is terminating and leaves without being evicted."""
        return self.importance[0]

    @property
    def started(self) -> str:
        """Start time of its oldest pod, as text that sorts by time; last while none has started."""
        return self.importance[5]


NOT_YET = "~"
"""Sorts after any time, as text."""


def unit_of(
    records: Sequence[PodRecord],
    priority: int,
    *,
    is_group: bool,
    is_tree: bool = False,
    wholeness: int = 0,
) -> Unit:
    started = min([record.pod.status.start_time or NOT_YET for record in records])
    first = min(map(_arrival, records))
    dependents = dependents_of(records) if records[0].owners else 0
    # Either all pods of a unit are terminating or none: a terminating pod takes no others along.
    is_ending = records[0].is_ending
    size = len(records) + dependents
    importance = (is_ending, -priority, not is_tree, not is_group, -size, started, first)
    return Unit(tuple(records), priority, is_group, is_tree, wholeness, dependents, importance)


by_importance = attrgetter("importance")
_arrival, _effective_priority = attrgetter("arrival"), attrgetter("effective_priority")


class LesserUnits(dict[PodRecord, Unit | None]):
    """The unit of each pod if its priority is below the given one or it is terminating; otherwise None.

    Computed on demand, once for all pods of a unit. A dict, since one search makes hundreds of lookups.
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
        """The group unit of the pod; None if it is evicted by itself.

        A terminating pod takes no others along.
        """
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
    """Members of a tree whose root is unknown may differ in priority; the highest counts for all."""
    members = [r for group in groups for r in group.members.values() if r.node and not r.is_ending]
    priority = max(map(_effective_priority, members))
    has_begun = any(group.is_disrupted and group.started_count < group.minimum for group in groups)
    wholeness = -1 if has_begun else 1 + is_tree
    return unit_of(members, priority, is_group=True, is_tree=is_tree, wholeness=wholeness)


def units_below(records: Iterable[PodRecord], priority: int, groups: GroupBook) -> list[Unit]:
    """Units of `records` that are terminating or below the given priority, highest priority first."""
    lesser = LesserUnits(priority, groups)
    units = [unit for record in records if (unit := lesser[record]) is not None]
    return sorted({id(unit): unit for unit in units}.values(), key=by_importance)


def goes_as_one(group: GroupRecord) -> bool:
    mode = group.obj.spec.disruption_mode if group.obj is not None else None
    return mode is not None and mode.all is not None


def evicted_with(key: GroupKey, groups: GroupBook) -> list[GroupKey]:
    """The groups evicted together with this one; empty if its pods are evicted one by one."""
    group, above = groups.get(key), groups.links.highest_as_one(key)
    if above is not None:
        return groups.links.below(above.key)
    return [key] if group is not None and goes_as_one(group) else []
