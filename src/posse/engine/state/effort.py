"""How much work one decision may be, in steps and not in seconds, so that equal events give equal decisions.

A step is about one rule on a thousand nodes. Most decisions take a few. One that takes too many is broken off
and put behind others, with a pause that grows; next time it may take twice as many.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

FIRST_STEPS = 100_000
"""Steps of a first attempt, about a second."""
_MAX_DOUBLINGS = 10
_FIRST_PAUSE_SECONDS = 1.0
_MAX_PAUSE_SECONDS = 300.0


def allowed_steps(postponements: int) -> int:
    """Steps of an attempt, after so many that were broken off."""
    return FIRST_STEPS << min(postponements, _MAX_DOUBLINGS)


def pause_seconds(postponements: int) -> float:
    """Pause after so many attempts in a row that took too many steps."""
    return min(_FIRST_PAUSE_SECONDS * 2.0 ** min(postponements, 40), _MAX_PAUSE_SECONDS)


class Effort:
    """What is left for the decision that is being made; without a limit, everything is allowed."""

    def __init__(self) -> None:
        self._left: int | None = None

    def limit(self, steps: int) -> None:
        self._left = steps

    def lift(self) -> None:
        self._left = None

    @contextmanager
    def aside(self, steps: int) -> Iterator[Callable[[], int]]:
        """What is spent here, at most so much, is not missing later. Gives a count of what is spent."""
        left, self._left = self._left, steps
        try:
            yield lambda: steps - (self._left or 0)
        finally:
            self._left = left

    def spend(self, steps: int) -> bool:
        """Return whether anything was left before."""
        if self._left is None:
            return True
        had_some = self._left > 0
        self._left -= steps
        return had_some

    @property
    def is_spent(self) -> bool:
        return self._left is not None and self._left <= 0
