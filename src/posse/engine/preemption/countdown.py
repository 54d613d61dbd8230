"""Groups that wait for victims are told how many are left: not of each that goes, but after a pause of all that have gone since.

Nothing is tried for that, and where the last goes within the pause there is nothing to tell.
"""

from collections.abc import Iterator
from itertools import takewhile

from posse.engine.decisions import GroupKey
from posse.engine.preemption.ledger import Ledger, Preemption

PAUSE_SECONDS = 1.0


class Countdown:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._due: dict[GroupKey, float] = {}
        """Groups that were told another number, and when they are told the one of that time; the first first."""

    def take_due(self, now: float) -> Iterator[tuple[GroupKey, Preemption]]:
        for key in self._ledger.take_shrunk():
            self._due.setdefault(key, now + PAUSE_SECONDS)
        for key in list(takewhile(lambda key: self._due[key] <= now, self._due)):
            del self._due[key]
            preemption = self._ledger.get(key)
            if preemption is not None and preemption.left:
                yield key, preemption

    def next_wakeup(self) -> float | None:
        return next(iter(self._due.values()), None)
