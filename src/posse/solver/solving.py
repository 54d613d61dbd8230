"""Solves a placement problem: a solution, a proof that there is none, or neither within the effort allowed.

Effort is counted in deterministic steps of the solver, so equal problems have equal answers.
"""

from ortools.sat.python import cp_model

from posse.engine.placement_problem import PlacementProblem, Share, Solution, leaves
from posse.engine.proof import Outcome
from posse.solver.model import Model, apart, build, together
from posse.solver.unpacking import unpacked

_IMPOSSIBLE = Solution(Outcome.IMPOSSIBLE)
_EXHAUSTED = Solution(Outcome.EXHAUSTED)
_SOLVED = frozenset({cp_model.OPTIMAL, cp_model.FEASIBLE})
_SEEDS = (1, 2, 3)
"""A solution of the merged model may not fit the single nodes; another seed may give one that does."""
_MAX_VARIABLES = 200_000
"""Of the exact model; a larger one is not built, because building alone would use up the effort."""


def solve(problem: PlacementProblem, effort: float) -> Solution:
    """Effort is about seconds of one core."""
    alike = together(problem)
    generous = build(problem, alike)
    for seed in _SEEDS:
        status, solver = run_model(generous, effort / 4, seed)
        if status == cp_model.INFEASIBLE:
            return _IMPOSSIBLE
        if status in _SOLVED and (shares := _shares(generous, solver)) is not None:
            return Solution(Outcome.PLACED, shares)
    if problem.node_count * sum(len(demand.pods) for demand in leaves(problem.root)) > _MAX_VARIABLES:
        return _EXHAUSTED
    exact = build(problem, apart(alike))
    status, solver = run_model(exact, effort, _SEEDS[0])
    if status in _SOLVED and (shares := _shares(exact, solver)) is not None:
        return Solution(Outcome.PLACED, shares)
    return _IMPOSSIBLE if status == cp_model.INFEASIBLE else _EXHAUSTED


def run_model(model: Model, effort: float, seed: int) -> tuple[cp_model.CpSolverStatus, cp_model.CpSolver]:
    """Run the solver with a bounded effort, the same for equal models."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = effort
    solver.parameters.random_seed = seed
    # Probing costs more here than it saves: measured on trees that about fill a few hundred nodes.
    solver.parameters.cp_model_probing_level = 0
    return solver.solve(model.program), solver


def _shares(model: Model, solver: cp_model.CpSolver) -> tuple[tuple[Share, ...], ...] | None:
    numbers = [
        [{cell: solver.value(count) for cell, count in placed.items()} for placed in counts]
        for counts in model.counts
    ]
    pod_sets = [[sort for sort, _ in demand.pods] for demand in leaves(model.problem.root)]
    return unpacked(model.problem, pod_sets, model.cells, numbers)
