"""Follows forecasts until what they are about has started, and learns from them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from posse.engine.forecast.calibration import Calibration
from posse.engine.forecast.forecast import Forecast
from posse.engine.forecast.problem_builder import Name

_TOLERANCE_SECONDS = 1.0


@dataclass(slots=True)
class ForecastTally:
    """How many first forecasts held."""

    inside: int = 0
    early: int = 0
    """Starts before the band."""
    late: int = 0
    unforeseen: int = 0
    """Starts for which no time was given."""
    before_bound: int = 0
    """Starts before the time before which there should be none."""

    @property
    def given(self) -> int:
        return self.inside + self.early + self.late


class ForecastBook:
    def __init__(self, counted_from: float = -math.inf) -> None:
        """Forecasts that are made earlier are learned from, and not counted."""
        self.calibration = Calibration()
        self._counted_from = counted_from
        self.latest: dict[Name, Forecast] = {}
        """The latest forecast of everything that waits."""
        self.tally = ForecastTally()
        self._first: dict[Name, Forecast] = {}
        """The first forecast of everything that waits."""
        self._too_late: dict[Name, None] = {}
        """What still waits, though the band of its first forecast is over."""

    def put(self, forecasts: Mapping[Name, Forecast], now: float) -> None:
        """All that waits now. What is not among it any more, and was not said to have started, is gone."""
        self.latest = dict(forecasts)
        for name in [name for name in self._first if name not in forecasts]:
            del self._first[name]
            self._too_late.pop(name, None)
        for name, forecast in forecasts.items():
            first = self._first.setdefault(name, forecast)
            if first.latest is not None and first.latest < now and name not in self._too_late:
                self._too_late[name] = None
                self.calibration.learn(was_early=False, was_late=True)

    def started(self, name: Name, moment: float) -> None:
        """It has started: was that foreseen?"""
        first = self._first.pop(name, None)
        self.latest.pop(name, None)
        if first is None:
            return
        tally = self.tally if first.made_at >= self._counted_from else ForecastTally()
        tally.before_bound += moment < first.not_before - _TOLERANCE_SECONDS
        if first.earliest is None or first.latest is None:
            tally.unforeseen += 1
            return
        is_early = moment < first.earliest - _TOLERANCE_SECONDS
        is_late = moment > first.latest + _TOLERANCE_SECONDS
        tally.early += is_early
        tally.late += is_late
        tally.inside += not is_early and not is_late
        if name in self._too_late:
            del self._too_late[name]
        else:
            self.calibration.learn(was_early=is_early, was_late=is_late)

    def awaited(self) -> list[Name]:
        """What waited when it was last forecast."""
        return list(self._first)
