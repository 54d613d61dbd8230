"""Forecasts: what they cost on a large cluster, and how many come true on a trace that is made up."""

import time
from collections.abc import Callable

import numpy as np

from bench.measuring import Figure
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.simulation.clusters import equal_nodes
from posse.simulation.forecasting import SimulatedForecasts
from posse.simulation.jobs import BEGIN, TracedJob, objects_of
from posse.simulation.policies import named_policies
from posse.simulation.virtual_cluster import VirtualCluster
from posse.solver.rollouts import estimate_starts

_POLICIES = ("posse", "backfill", "shortest-expected")
_NODES, _WAITING = 1000, 200
_HOURS = (1, 2, 4, 8, 24, 48)
_TRACE_NODES, _TRACE_JOBS = 8, 400
_GAP_SECONDS = 700.0


def measure() -> list[Figure]:
    costs = [_cost(policy) for policy in _POLICIES]
    return [*costs, *(figure for policy in _POLICIES for figure in _calibration(policy))]


def _cost(policy: str) -> Figure:
    """Seconds of one core for all that waits, with 1,000 nodes in use."""
    engine, draws = _full_cluster(policy), np.random.default_rng(1)
    for number in range(_WAITING):
        pods, hours = int(draws.choice((2, 4, 8, 16, 32, 64))), float(draws.choice(_HOURS))
        _submit(engine, TracedJob(f"waits{number}", 0, 0, pods, 8, limit=hours * 3600))
    _settle(engine)
    builder = engine.forecast_builder(BEGIN)
    steps = builder.steps()
    longest = max(_timed(lambda: next(steps, None)) for _ in range(_NODES))
    question = builder.question()
    seconds = _timed(lambda: estimate_starts(question.problem))
    detail = f"{len(question.running)} units run; the engine is asked for {longest * 1e3:.1f} ms at a time"
    return Figure(f"forecast of {_WAITING} waiting gangs, {policy}", seconds, "s of one core", detail)


def _full_cluster(policy: str) -> Engine:
    engine, draws, free, number = (
        Engine(named_policies()[policy].options),
        np.random.default_rng(2),
        _NODES,
        0,
    )
    for node in equal_nodes(_NODES, 8):
        engine.absorb(Observed(node))
    while free > 0:
        pods = min(free, int(draws.choice((1, 1, 1, 2, 4, 8))))
        _submit(engine, TracedJob(f"runs{number}", -60, 0, pods, 8, limit=float(draws.choice(_HOURS)) * 3600))
        free, number = free - pods, number + 1
    _settle(engine)
    return engine


def _submit(engine: Engine, job: TracedJob) -> None:
    groups, pods = objects_of(job, 0)
    for obj in (*groups, *pods):
        engine.absorb(Observed(obj))


def _settle(engine: Engine) -> None:
    engine.decide(BEGIN)
    while engine.has_work:
        engine.decide(BEGIN)


def _timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _calibration(policy: str) -> list[Figure]:
    forecasts = SimulatedForecasts(begin=86400.0)
    cluster = VirtualCluster(
        equal_nodes(_TRACE_NODES, 8), _jobs(), named_policies()[policy], forecasts=forecasts
    )
    cluster.run()
    tally = forecasts.book.tally
    detail = f"of {tally.given} starts; {tally.early} earlier, {tally.late} later, {tally.unforeseen} unknown"
    held = 100 * tally.inside / max(tally.given, 1)
    return [
        Figure(f"starts in the 80 % band, {policy}", held, "%", detail),
        Figure(f"starts before the bound, {policy}", tally.before_bound, "starts"),
    ]


def _jobs() -> list[TracedJob]:
    """Run times differ from user to user, and widely from job to job."""
    draws = np.random.default_rng(3)
    submits = np.cumsum(draws.exponential(_GAP_SECONDS, _TRACE_JOBS)).tolist()
    return [
        TracedJob(
            f"job{number}",
            submit,
            float(60 + draws.lognormal(7 + user % 4 / 2, 0.8)),
            pods,
            8 if pods > 1 else int(draws.choice((1, 2, 4, 8))),
            user=f"user{user}",
        )
        for number, submit in enumerate(submits)
        for user, pods in [(int(draws.integers(8)), int(draws.choice((1, 1, 1, 1, 2, 4))))]
    ]
