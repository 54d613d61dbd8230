"""Measures wall time of named parts: the median of several runs, on objects built beforehand."""

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

RUNS = 3


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: float
    unit: str
    detail: str = ""
    """What the value is made of."""
    kube_scheduler: str = ""
    """What kube-scheduler does with the same work, where it was measured."""


@dataclass(slots=True)
class Stopwatch:
    """Seconds spent in each part. What happens outside of `part` is not counted."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def shares(self, count: int) -> str:
        """Microseconds per item, part by part."""
        return ", ".join(f"{name} {spent / count * 1e6:.1f}" for name, spent in self.seconds.items())


def median_run(run: Callable[[], Stopwatch], runs: int = RUNS) -> Stopwatch:
    """Run several times and return the run in the middle, so that one disturbance does not count."""
    watches: list[Stopwatch] = []
    for _ in range(runs):
        gc.collect()
        watches.append(run())
    middle = statistics.median_low([watch.total for watch in watches])
    return next(watch for watch in watches if watch.total == middle)
