"""Runs the exact search where the engine alone cannot prove that a group does not fit."""

from posse.engine.explain.explanation import Explanation
from posse.engine.placement_problem import RemedyProblem
from posse.engine.proof import Outcome
from posse.engine.reporting.cause_messages import proof_text
from posse.solver.solving import solve

_EFFORT = 5.0
"""About as many seconds: short, because a user waits at a terminal."""


def certainty(explanation: Explanation) -> str:
    """Say whether it is proven that the group does not fit in the free capacity."""
    proof, remedy_problem = explanation.situation.proof, explanation.remedy_problem
    if proof is None:
        return ""
    if not proof.doubts or not isinstance(remedy_problem, RemedyProblem):
        return proof_text(proof)
    match solve(remedy_problem.problem, _EFFORT).outcome:
        case Outcome.PLACED:
            return "A placement exists; the scheduler finds it by an exact search after its quick search."
        case Outcome.IMPOSSIBLE:
            return "Proven by an exact search: it cannot fit in the currently free capacity."
        case _:
            return "A placement may still exist: the exact search ran out of time."
