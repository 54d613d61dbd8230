"""How long a run may take, as a distribution: earlier runs, a stated duration, or a limit alone."""

import math

import msgspec
import numpy as np

from posse.engine.nodes.arrays import FloatArray
from posse.engine.queue.run_history import OVERRUN

MAX_OVERRUN = 50.0
"""A run beyond all that is known takes so many times its age at the most."""


class RunTimeSpread(msgspec.Struct, frozen=True, array_like=True):
    known: tuple[float, ...] = ()
    """Run times in seconds, in order: those of earlier runs, or the one that is stated."""
    limit: float = math.inf
    """The run is ended then at the latest."""

    least: float = 0.0
    """The run takes longer than this, as others show that were created with it."""

    @property
    def usual(self) -> float:
        """The median."""
        longer = [one for one in self.known if one > self.least]
        if not longer:
            return min(OVERRUN * self.least, self.limit) if self.known else self.limit
        return min(longer[len(longer) // 2], self.limit)

    def drawn(self, age: float, shares: FloatArray) -> FloatArray:
        """Whole run times of a run that has taken `age` seconds, at these shares of the distribution.

        Only runs count that took longer. Where none did, the run is expected to go on for as long again in
        the median, and seldom for much longer. A limit alone says that any end up to it is equally likely.
        """
        age = max(age, self.least)
        possible = [one for one in self.known if age < one <= self.limit]
        if possible:
            return np.array(possible)[(shares * len(possible)).astype(np.int64)]
        if self.limit < math.inf:
            return age + shares * max(0.0, self.limit - age)
        if not self.known:
            return np.full(shares.shape, math.inf)
        return np.minimum(max(age, 1.0) / (1.0 - shares), MAX_OVERRUN * max(age, 1.0))
