"""Basic groups that wait a moment for the rest of the pods they expect, so that they are tried together.

A group gathers once. When the time is over it is tried with what is there, and who comes later does not wait again.
"""

from itertools import takewhile

from posse.engine.keys import GroupKey

GATHERING_SECONDS = 2.0


class Gatherings:
    def __init__(self) -> None:
        self._until: dict[GroupKey, float] = {}
        """Groups that gather now, in the order in which their time is over."""

    def begin(self, key: GroupKey, now: float) -> None:
        self._until.setdefault(key, now + GATHERING_SECONDS)

    def end(self, key: GroupKey) -> None:
        self._until.pop(key, None)

    def take_over(self, now: float) -> list[GroupKey]:
        """Those whose time is over."""
        over = list(takewhile(lambda key: self._until[key] <= now, self._until))
        for key in over:
            del self._until[key]
        return over

    def next_wakeup(self) -> float | None:
        return next(iter(self._until.values()), None)
