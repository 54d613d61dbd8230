"""When a waiting unit is expected to start, as data. Words are made where it is shown."""

import math
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from posse.engine.explain.queue_order import Ahead
from posse.engine.forecast.calibration import BEYOND, Calibration
from posse.engine.forecast.forecast_problem import LearnedRunTime, StartEstimate
from posse.engine.forecast.problem_builder import ForecastQuestion, Name
from posse.engine.keys import GroupKey

_NOTICEABLE_SECONDS = 60.0
_NOTICEABLE_SHARE = 0.2
_FEW_PLACES = 2
"""Of the queue: to move by so many is no news."""
"""Of the time until a band or of its width: a forecast has changed if an end of the band moved farther."""


class Unforeseen(StrEnum):
    """Why nothing is said."""

    RUN_TIMES = "run times are unknown"
    NODES = "no nodes for it"


class AwaitedEnd(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What has to end first, most likely."""

    kind: str
    namespace: str
    name: str
    is_waiting: bool = False
    """It has not started itself."""


class Forecast(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Times in seconds since the epoch."""

    made_at: float
    """It does not start before: it waits now, and anything that runs may end at any time."""
    earliest: float | None = None
    """The band that holds the start in four of five cases; None where nothing is foreseen."""
    latest: float | None = None
    waits_for: AwaitedEnd | None = None
    unforeseen: Unforeseen | None = None
    learned: LearnedRunTime | None = None
    """How long it is expected to run."""
    ahead: Ahead | None = None
    """What was ahead of it in the queue by then, where its age does not tell it."""

    @property
    def not_before(self) -> float:
        return self.made_at

    def differs_noticeably(self, other: "Forecast") -> bool:
        """Whether it is worth to be told again after the other."""
        if _has_moved(self.ahead, other.ahead):
            return True
        if self.earliest is None or self.latest is None or other.earliest is None or other.latest is None:
            return (self.earliest, self.unforeseen) != (other.earliest, other.unforeseen)
        until = max(0.0, self.earliest - self.made_at)
        moved = max(abs(self.earliest - other.earliest), abs(self.latest - other.latest))
        tolerated = max(_NOTICEABLE_SECONDS, _NOTICEABLE_SHARE * max(until, self.latest - self.earliest))
        return moved > tolerated


def forecasts_of(
    question: ForecastQuestion, estimates: Sequence[StartEstimate], calibration: Calibration, now: float
) -> dict[Name, Forecast]:
    """The forecast of everything that waits."""
    found: dict[Name, Forecast] = {}
    for name, estimate in zip(question.waiting, estimates, strict=True):
        learned = question.learned.get(name)
        ahead = question.ahead.get(name) if isinstance(name, GroupKey) else None
        low, high = estimate.quantile(BEYOND), estimate.quantile(1 - BEYOND)
        if high == math.inf:
            why = Unforeseen.RUN_TIMES if estimate.fits_empty else Unforeseen.NODES
            found[name] = Forecast(now, unforeseen=why, learned=learned, ahead=ahead)
            continue
        earliest, latest = calibration.widened(low, high)
        awaited = _awaited(question, estimate.awaited) if estimate.awaited is not None else None
        band = (now + earliest, now + latest)
        found[name] = Forecast(now, *band, awaited, learned=learned, ahead=ahead)
    return found


def _has_moved(now: Ahead | None, before: Ahead | None) -> bool:
    """Whether its place in the queue is another. A few places do not matter, and more far behind."""
    if now is None or before is None:
        return now != before
    number, known = now.pods + now.groups, before.pods + before.groups
    return abs(number - known) > max(_FEW_PLACES, _NOTICEABLE_SHARE * max(number, known))


def _awaited(question: ForecastQuestion, unit: int) -> AwaitedEnd:
    name, is_waiting = question.name(unit), unit >= len(question.running)
    if not isinstance(name, GroupKey):
        return AwaitedEnd("pod", name.namespace, name.name, is_waiting)
    kind = "compositepodgroup" if name.is_composite else "podgroup"
    short = "/".join(filter(None, (name.name, name.pod_group, name.replica_key)))
    return AwaitedEnd(kind, name.namespace, short, is_waiting)
