"""Expected run times in words."""

import math

from posse.cli.explain.forecast_words import clock
from posse.engine.forecast.forecast_problem import LearnedRunTime
from posse.engine.queue.run_times import ExpectedRunTime, RunTimeSource
from posse.kinds.machinery.durations import human_duration


def run_time_facts(run_time: ExpectedRunTime) -> list[tuple[str, str]]:
    """Nothing where no run time is known."""
    return [("run time", _told(run_time))] if run_time.source is not RunTimeSource.UNKNOWN else []


def deadline_text(deadline: float, starts: float | None, now: float) -> str:
    """When its Job is ended; `starts` is when it is expected to start at the earliest."""
    text = (
        f"its Job is ended at {clock(deadline, now)}, whether it runs by then or not (activeDeadlineSeconds)"
    )
    return (
        f"{text}; it is not expected to start before that"
        if starts is not None and starts >= deadline
        else text
    )


def learned_text(learned: LearnedRunTime) -> str:
    """What the scheduler of a group has learned from earlier runs."""
    return _learned(learned.usual, learned.safe, learned.basis)


def _told(run_time: ExpectedRunTime) -> str:
    limit = ""
    if math.isfinite(run_time.limit):
        limit = f"at most {human_duration(run_time.limit)} (activeDeadlineSeconds)"
    match run_time.source:
        case RunTimeSource.LIMIT:
            learned = f"about {human_duration(run_time.usual)} ({run_time.basis} with this limit), "
            return f"{learned}{limit}" if run_time.basis else limit
        case RunTimeSource.STATED:
            stated = f"about {human_duration(run_time.usual)} (annotation posse.dev/expected-duration)"
            return f"{stated}, {limit}" if limit else stated
        case _:
            return _learned(run_time.usual, run_time.safe, run_time.basis)


def _learned(usual: float, safe: float, basis: str) -> str:
    return f"about {human_duration(usual)}, seldom more than {human_duration(safe)} ({basis})"
