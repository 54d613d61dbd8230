"""Forecasts in virtual time: made as in a running scheduler, and held against what happens."""

import math

from posse.engine.engine import Engine
from posse.engine.forecast.forecast import forecasts_of
from posse.engine.forecast.forecast_book import ForecastBook
from posse.engine.forecast.problem_builder import Name
from posse.simulation.jobs import BEGIN
from posse.solver.rollouts import estimate_starts

PAUSE_SECONDS = 600.0
"""Of virtual time between forecasts. What starts before the first one of it is not counted."""


class SimulatedForecasts:
    def __init__(self, begin: float = 0.0, pause: float = PAUSE_SECONDS) -> None:
        """Only forecasts that are made after `begin` are counted."""
        self.book = ForecastBook(BEGIN + begin)
        self._pause = pause
        self._made_at = -math.inf

    def decided(self, engine: Engine, now: float) -> None:
        """The engine has decided: forecast what waits, unless that was done a short while ago."""
        if now < self._made_at + self._pause:
            return
        self._made_at = now
        builder = engine.forecast_builder(BEGIN + now)
        for _ in builder.steps():
            pass
        question = builder.question()
        estimates = estimate_starts(question.problem)
        self.book.put(forecasts_of(question, estimates, self.book.calibration, BEGIN + now), BEGIN + now)

    def started(self, name: Name, now: float) -> None:
        self.book.started(name, BEGIN + now)
