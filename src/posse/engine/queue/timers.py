"""Keys that become due a fixed time after they were started, such as groups that wait for more pods."""

from itertools import takewhile
from typing import Generic, TypeVar

K = TypeVar("K")

GATHERING_SECONDS = 2.0
"""How long a basic group waits, once, for the pods it expects, so that they are tried together."""
COUNTDOWN_SECONDS = 1.0
"""How often "waiting for N victims" is updated at most."""
HELD_SECONDS = 2.0
"""How often "N of the M pods it needs exist" is updated at most."""


class DelayTimers(Generic[K]):
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.running: dict[K, float] = {}
        """Keys and when they are due; in order of time, since all wait equally long."""

    def start(self, key: K, now: float) -> None:
        """Start the key's timer, unless it runs already."""
        self.running.setdefault(key, now + self._seconds)

    def stop(self, key: K) -> None:
        self.running.pop(key, None)

    def take_due(self, now: float) -> list[K]:
        due = list(takewhile(lambda key: self.running[key] <= now, self.running))
        for key in due:
            del self.running[key]
        return due

    def next_wakeup(self) -> float | None:
        return next(iter(self.running.values()), None)
