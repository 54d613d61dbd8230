"""Capacity reserved for pods to come: what started groups still lack of their minResources.

A leader starts before its workers exist, so free capacity may be reserved when the next leader is tried. Sums
are kept, and a group is recomputed only after it changed, because queries are frequent. Other modules decide
what a group lacks. Decision 19 describes which groups are checked, and when a reservation ends.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import Amounts


@dataclass(frozen=True, slots=True)
class Share:
    """The reservation of one group, against equal or lower priorities."""

    effective_priority: int = 0
    lack: Amounts = field(default_factory=dict)


_NOTHING = Share()


class MinimumReservations:
    def __init__(self) -> None:
        self.groups: dict[GroupKey, Callable[[], Share]] = {}
        """For every group with minResources: a function that computes its current reservation."""
        self._changed: dict[GroupKey, None] = {}
        """Groups that changed since the last query."""
        self._shares: dict[GroupKey, Share] = {}
        self._totals: dict[int, Amounts] = {}
        """Sums of the shares by effective priority."""

    def put(self, key: GroupKey, share: Callable[[], Share]) -> None:
        self.groups[key] = share
        self._changed[key] = None

    def drop(self, key: GroupKey) -> None:
        if self.groups.pop(key, None) is not None:
            self._changed.pop(key, None)
            self._replace(key, _NOTHING)

    def note(self, key: GroupKey | None) -> None:
        """A member was attached or detached, or the group changed."""
        if key in self.groups:
            self._changed[key] = None

    def against(self, effective_priority: int) -> Amounts:
        """Capacity reserved against this priority, by resource."""
        self._catch_up()
        sums: Amounts = {}
        for held_by, total in self._totals.items():
            if held_by >= effective_priority:
                _add(sums, total, 1)
        return sums

    def holders(self) -> Collection[GroupKey]:
        """The groups that something is reserved for."""
        self._catch_up()
        return self._shares.keys()

    def _catch_up(self) -> None:
        for key in self._changed:
            self._replace(key, self.groups[key]())
        self._changed.clear()

    def _replace(self, key: GroupKey, share: Share) -> None:
        before = self._shares.pop(key, _NOTHING)
        _add(self._totals.get(before.effective_priority, {}), before.lack, -1)
        if share.lack:
            self._shares[key] = share
            _add(self._totals.setdefault(share.effective_priority, {}), share.lack, 1)


def _add(total: Amounts, more: Amounts, sign: int) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + sign * amount
