"""Forecasts of the groups of a cluster: those that its scheduler has published, else made here.

The scheduler knows more: how long earlier runs took, and how well earlier forecasts held.
"""

from posse.cli.reading.cluster_reader import Survey
from posse.engine.forecast.calibration import Calibration
from posse.engine.forecast.forecast import Forecast, forecasts_of
from posse.engine.forecast.forecast_note import FORECAST, read_forecast
from posse.engine.forecast.problem_builder import ForecastQuestion
from posse.engine.keys import GroupKey
from posse.solver.rollouts import estimate_starts


def published_forecasts(survey: Survey, now: float) -> dict[GroupKey, Forecast]:
    """Without those whose time is over, which nothing renews any more."""
    read = {key: _published(survey, key) for key in survey.group_keys()}
    return {
        key: forecast
        for key, forecast in read.items()
        if forecast is not None and (forecast.latest is None or forecast.latest >= now)
    }


def forecasts_for(survey: Survey, now: float) -> dict[GroupKey, Forecast]:
    """Of all groups that wait for capacity; that of a tree is the forecast of its root."""
    published, question = published_forecasts(survey, now), _question(survey, now)
    waiting = [name for name in question.waiting if isinstance(name, GroupKey)]
    made = {} if all(name in published for name in waiting) else _made(question, now)
    return {name: published.get(name) or made[name] for name in waiting}


def made_forecasts(survey: Survey, now: float) -> dict[GroupKey, Forecast]:
    """Made here, for a cluster that is only thought of."""
    return _made(_question(survey, now), now)


def _question(survey: Survey, now: float) -> ForecastQuestion:
    builder = survey.engine.forecast_builder(now)
    for _ in builder.steps():
        pass
    return builder.question()


def _made(question: ForecastQuestion, now: float) -> dict[GroupKey, Forecast]:
    """Without places in the queue, where only the scheduler knows them."""
    question.ahead.clear()
    made = forecasts_of(question, estimate_starts(question.problem), Calibration(), now)
    return {name: forecast for name, forecast in made.items() if isinstance(name, GroupKey)}


def _published(survey: Survey, key: GroupKey) -> Forecast | None:
    metadata = (survey.object_of(key) or {}).get("metadata") or {}
    text = (metadata.get("annotations") or {}).get(FORECAST)
    return read_forecast(text) if isinstance(text, str) else None
