"""Finds the fewest gangs to stop so that a group fits, and proves how many are needed at least."""

from dataclasses import dataclass

from ortools.sat.python import cp_model

from posse.engine.placement_problem import EvictableUnit, RemedyProblem
from posse.solver.model import Cell, build
from posse.solver.solving import run_model

_EFFORT = 30.0
_SEED = 1


@dataclass(frozen=True, slots=True)
class RoomPlan:
    stopped: tuple[EvictableUnit, ...] | None
    """None if none was found."""
    least: int
    """At least so many have to be stopped."""
    is_impossible: bool = False
    """It would not fit if everything were stopped."""

    @property
    def is_proven(self) -> bool:
        return self.is_impossible or (self.stopped is not None and len(self.stopped) == self.least)


def fewest_stopped(problem: RemedyProblem, effort: float = _EFFORT) -> RoomPlan:
    """The fewest gangs, and of such sets one that is on few nodes. Effort is about seconds of one core."""
    units = problem.evictable_units
    cells = tuple(Cell((node,)) for node in range(problem.problem.node_count))
    model = build(problem.problem, cells, units)
    step = 1 + sum(len(unit.freed) for unit in units)
    # A gang less counts more than all nodes together.
    costs = [step + len(unit.freed) for unit in units]
    model.program.minimize(sum(cost * unit for cost, unit in zip(costs, model.evicted, strict=True)))
    status, solver = run_model(model, effort, _SEED)
    if status == cp_model.INFEASIBLE:
        return RoomPlan(None, 0, is_impossible=True)
    least = max(0, int(solver.best_objective_bound)) // step if units else 0
    if status not in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
        return RoomPlan(None, least)
    stopped = tuple(
        unit for unit, variable in zip(units, model.evicted, strict=True) if solver.value(variable)
    )
    return RoomPlan(stopped, len(stopped) if status == cp_model.OPTIMAL else least)
