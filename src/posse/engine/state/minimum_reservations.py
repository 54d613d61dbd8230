"""What groups that have started still lack of what they need in all (minResources): it is left to their pods to come.

A leader starts before its workers are made; what is free when the next leader asks may be spoken for, though nobody has taken
it. Sums are kept, and a group is looked at anew only when something became of it: some ask who are many. What a group lacks
is not decided here. Decision 19 says who asks, and when it ends.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import Amounts


@dataclass(frozen=True, slots=True)
class Share:
    """What is set aside for one group, against whoever stands no higher."""

    effective_priority: int = 0
    lack: Amounts = field(default_factory=dict)


_NOTHING = Share()


class MinimumReservations:
    def __init__(self) -> None:
        self._groups: dict[GroupKey, Callable[[], Share]] = {}
        """How to find out what is set aside for a group now, for all groups that say what they need."""
        self._changed: dict[GroupKey, None] = {}
        """Those of which something became since anybody asked."""
        self._shares: dict[GroupKey, Share] = {}
        self._totals: dict[int, Amounts] = {}
        """By standing: the sums of the shares."""

    def put(self, key: GroupKey, share: Callable[[], Share]) -> None:
        self._groups[key] = share
        self._changed[key] = None

    def drop(self, key: GroupKey) -> None:
        if self._groups.pop(key, None) is not None:
            self._changed.pop(key, None)
            self._replace(key, _NOTHING)

    def note(self, key: GroupKey | None) -> None:
        """A member came to a node or left it, or the group is not what it was."""
        if self._groups and key in self._groups:
            self._changed[key] = None

    def against(self, effective_priority: int) -> Amounts:
        """What somebody who stands there may not count on, by resource."""
        for key in self._changed:
            self._replace(key, self._groups[key]())
        self._changed.clear()
        sums: Amounts = {}
        for held_by, total in self._totals.items():
            if held_by >= effective_priority:
                _add(sums, total, 1)
        return sums

    def _replace(self, key: GroupKey, share: Share) -> None:
        before = self._shares.pop(key, _NOTHING)
        _add(self._totals.get(before.effective_priority, {}), before.lack, -1)
        if share.lack:
            self._shares[key] = share
            _add(self._totals.setdefault(share.effective_priority, {}), share.lack, 1)


def _add(total: Amounts, more: Amounts, sign: int) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + sign * amount
