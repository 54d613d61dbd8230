"""Rollouts: the queue played forward in virtual time, each time with other run times.

Nothing arrives, no node comes or fails, and nothing is preempted.
"""

import math
from collections import Counter

import numpy as np

from posse.engine.forecast.forecast_problem import ForecastProblem, StartEstimate
from posse.engine.nodes.arrays import FloatArray, IntArray
from posse.solver.rollout import QueueRollout
from posse.solver.rollout_capacity import RolloutCapacity

ROLLOUTS = 16


def estimate_starts(problem: ForecastProblem, seed: int = 0, rollouts: int = ROLLOUTS) -> list[StartEstimate]:
    """When everything that waits starts. Equal problems and seeds give equal answers."""
    if not problem.waiting:
        return []
    run_times = _drawn(problem, seed, rollouts)
    own = [
        np.array((unit.resources, unit.rows, unit.amounts), dtype=np.int64).reshape(3, -1)
        for unit in problem.running
    ]
    capacity = RolloutCapacity(problem)
    starts, awaited = [], []
    for number in range(rollouts):
        rollout = QueueRollout(problem, capacity.copy(), run_times[number], own)
        rollout.play()
        starts.append(rollout.starts)
        awaited.append(rollout.awaited)
    ordered, deciding = np.sort(np.array(starts), axis=0).T, np.array(awaited).T
    empty = capacity.free()
    held = problem.all_held()
    np.add.at(empty, tuple(held[:2]), held[2])
    return [
        StartEstimate(
            tuple(one.tolist()),
            _most_often(which),
            bool(one[-1] < math.inf) or capacity.may_fit_in(empty, unit.parts, unit.topology_key),
        )
        for one, which, unit in zip(ordered, deciding, problem.waiting, strict=True)
    ]


def _drawn(problem: ForecastProblem, seed: int, rollouts: int) -> FloatArray:
    """Run times by rollout and unit: every part of a distribution occurs equally often over the rollouts."""
    draws = np.random.default_rng(seed)
    units = [(unit.spread, unit.age) for unit in problem.running] + [
        (unit.spread, 0.0) for unit in problem.waiting
    ]
    parts = np.tile(np.arange(rollouts, dtype=np.float64), (len(units), 1))
    shares = (draws.permuted(parts, axis=1) + draws.random(parts.shape)) / rollouts
    rows = [
        np.maximum(problem.spreads[spread].drawn(age, own) - age, 0.0)
        for (spread, age), own in zip(units, shares, strict=True)
    ]
    return np.array(rows).T


def _most_often(which: IntArray) -> int | None:
    counts = Counter(one for one in which.tolist() if one >= 0)
    return min(counts, key=lambda one: (-counts[one], one)) if counts else None
