"""Run-time limits for jobs of traces that have none, as users set them: round figures, and mostly too long.

A limit is the smallest of a few round ones that is no shorter than the run times a factor. The factor is
1 + 9 u * u, with u drawn evenly from 0 to 1: half of the jobs ask for less than 3.3 times what they need.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from posse.simulation.jobs import TracedJob

_HOURS = (0.5, 1, 2, 4, 8, 12, 24, 48, 96, 168, 336, 720, 2160)


def with_limits(jobs: Sequence[TracedJob], seed: int) -> list[TracedJob]:
    """Equal seeds give equal limits. No run is longer than its limit."""
    drawn = np.random.default_rng(seed).random(len(jobs)).tolist()
    return [replace(job, limit=_limit(job.duration, one)) for job, one in zip(jobs, drawn, strict=True)]


def _limit(duration: float, drawn: float) -> float:
    wanted = duration * (1 + 9 * drawn * drawn)
    return next((hours * 3600 for hours in _HOURS if hours * 3600 >= wanted), wanted)
