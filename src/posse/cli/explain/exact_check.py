"""Whether a refused group really cannot start, where the engine alone is not sure."""

from posse.engine.explain.explanation import Explanation
from posse.engine.placement_problem import RemedyProblem
from posse.engine.proof import Outcome
from posse.engine.reporting.cause_messages import proof_text
from posse.solver.solving import solve

_EFFORT = 5.0
"""About as many seconds; somebody waits for the answer at a terminal."""


def certainty(explanation: Explanation) -> str:
    """How sure it is that the group cannot start in the room that is free."""
    proof, remedy_problem = explanation.situation.proof, explanation.remedy_problem
    if proof is None:
        return ""
    if not proof.doubts or not isinstance(remedy_problem, RemedyProblem):
        return proof_text(proof)
    match solve(remedy_problem.problem, _EFFORT).outcome:
        case Outcome.PLACED:
            return "A placement exists; it takes an exact search to find it, which the scheduler makes before it gives up."
        case Outcome.IMPOSSIBLE:
            return "Proven by an exact search: it cannot fit in the currently free capacity."
        case _:
            return "A placement may still exist: an exact search did not end in time."
