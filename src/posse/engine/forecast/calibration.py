"""Widens the bands of rollouts until they hold what they promise, learned from earlier forecasts.

Rollouts know nothing of jobs that arrive, of nodes that fail and of much else. So both ends of a band are
moved by a margin of their own, as a factor of the wait. An end that was too narrow moves outwards by a large
step, one that held moves inwards by a small one, such that in the long run each end is exceeded in one of ten
forecasts, whatever the reason.

Where many jobs wait, hundreds of forecasts have the same margins before the first of them is known to hold or
not. Large steps would then move the margins from one extreme to the other, so steps become smaller.
"""

import math

import msgspec

BAND = 0.8
"""The share of starts that a band should hold."""
BEYOND = (1 - BAND) / 2
"""The share of starts that may be before a band, and after it."""
_FIRST_STEP, _LAST_STEP = 0.4, 0.02
_HALVED_AFTER = 100
"""After so many forecasts, a step is half as large as the first one."""
_OFFSET_SECONDS = 300.0
"""Added to waits before they are compared: what waits is tried again after five minutes at the latest."""
_FIRST_MARGIN = 0.5
_MAX_MARGIN = 6.0
_MAX_LEARNED = 10**9


class Calibration(msgspec.Struct):
    """Margins as natural logarithms of factors. Below zero, a band becomes narrower."""

    early: float = _FIRST_MARGIN
    late: float = _FIRST_MARGIN
    learned: int = 0
    """The number of forecasts learned from."""

    @property
    def is_plausible(self) -> bool:
        """Whether learning can have led to these margins, which were read from a file."""
        margins = all(-_MAX_MARGIN <= one <= _MAX_MARGIN for one in (self.early, self.late))
        return margins and 0 <= self.learned <= _MAX_LEARNED

    def widened(self, low: float, high: float) -> tuple[float, float]:
        """The band of a wait, in seconds, of which rollouts say that it is between low and high."""
        middle = (low + high) / 2
        low = min(middle, (low + _OFFSET_SECONDS) * math.exp(-self.early) - _OFFSET_SECONDS)
        high = max(middle, (high + _OFFSET_SECONDS) * math.exp(self.late) - _OFFSET_SECONDS)
        return max(0.0, low), high

    def learn(self, *, was_early: bool, was_late: bool) -> None:
        """A start was before its band, after it, or inside."""
        step = max(_LAST_STEP, _FIRST_STEP / (1 + self.learned / _HALVED_AFTER))
        self.learned += 1
        if not was_late:
            self.early = _moved(self.early, step, was_exceeded=was_early)
        self.late = _moved(self.late, step, was_exceeded=was_late)


def _moved(margin: float, step: float, *, was_exceeded: bool) -> float:
    moved = margin + step * (1 - BEYOND if was_exceeded else -BEYOND)
    return min(max(moved, -_MAX_MARGIN), _MAX_MARGIN)
