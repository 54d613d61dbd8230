"""Answers a puzzle: a solution, the proof that there is none, or that the effort allowed did not suffice.

Effort is counted in the solver's own steps, not in seconds, so that equal puzzles have equal answers.
"""

from ortools.sat.python import cp_model

from posse.engine.puzzle import Outcome, Puzzle, Share, Solution, leaves
from posse.solver.model import Model, apart, break_symmetry, build, together
from posse.solver.unpacking import unpacked

_IMPOSSIBLE = Solution(Outcome.IMPOSSIBLE)
_EXHAUSTED = Solution(Outcome.EXHAUSTED)


def solve(puzzle: Puzzle, effort: float) -> Solution:
    """Effort is about seconds of one core."""
    alike = together(puzzle)
    # Half of the effort may go into the proof that is quick where it succeeds.
    generous = build(puzzle, alike)
    status, solver = _run(generous, effort / 2)
    if status == cp_model.INFEASIBLE:
        return _IMPOSSIBLE
    if status in _SOLVED and (shares := _shares(generous, solver)) is not None:
        return Solution(Outcome.PLACED, shares)
    exact = build(puzzle, apart(alike))
    break_symmetry(exact, alike)
    status, solver = _run(exact, effort)
    if status in _SOLVED and (shares := _shares(exact, solver)) is not None:
        return Solution(Outcome.PLACED, shares)
    return _IMPOSSIBLE if status == cp_model.INFEASIBLE else _EXHAUSTED


_SOLVED = frozenset({cp_model.OPTIMAL, cp_model.FEASIBLE})


def _run(model: Model, effort: float) -> tuple[cp_model.CpSolverStatus, cp_model.CpSolver]:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = effort
    solver.parameters.random_seed = 0
    return solver.solve(model.program), solver


def _shares(model: Model, solver: cp_model.CpSolver) -> tuple[tuple[Share, ...], ...] | None:
    numbers = [
        [{cell: solver.value(count) for cell, count in placed.items()} for placed in counts]
        for counts in model.counts
    ]
    sorts = [[sort for sort, _ in team.pods] for team in leaves(model.puzzle.root)]
    return unpacked(model.puzzle, sorts, model.cells, numbers)
