"""Several samples of one trace: arrivals moved at random, and the mean of a figure with its confidence.

A single trace is one draw: a job that arrives a minute earlier can change all that follows. Samples show
which differences between policies are more than chance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from posse.simulation.jobs import TracedJob

# Student's t for 95 %, by degrees of freedom from 1 on; the normal distribution beyond.
_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and half the width of its 95 % confidence interval; NaN where there is none."""

    mean: float
    margin: float

    @property
    def is_certain(self) -> bool:
        """Whether zero lies outside the interval."""
        return abs(self.mean) > self.margin


def estimate(values: Sequence[float]) -> Estimate:
    """Values that are NaN are left out: there was nothing to measure."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Estimate(math.nan, math.nan)
    mean = math.fsum(known) / len(known)
    if len(known) == 1:
        return Estimate(mean, math.nan)
    variance = math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1)
    freedom = len(known) - 1
    factor = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _NORMAL
    return Estimate(mean, factor * math.sqrt(variance / len(known)))


def difference(values: Sequence[float], others: Sequence[float]) -> Estimate:
    """Of pairs from equal samples, which is narrower than the two intervals by themselves."""
    return estimate([one - other for one, other in zip(values, others, strict=True)])


def moved_arrivals(jobs: Sequence[TracedJob], seconds: float, seed: int) -> list[TracedJob]:
    """Every arrival moved by up to so many seconds, earlier or later; in order of the new arrivals."""
    shifts = np.random.default_rng(seed).uniform(-seconds, seconds, len(jobs))
    moved = [
        replace(job, submit=max(0.0, job.submit + float(shift)))
        for job, shift in zip(jobs, shifts, strict=True)
    ]
    return sorted(moved, key=lambda job: job.submit)
