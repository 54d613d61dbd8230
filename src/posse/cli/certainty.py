"""Whether a refused group really cannot start, where the engine alone is not sure."""

from posse.engine.explaining import Explanation
from posse.engine.puzzle import Impasse, Outcome
from posse.solver.solving import solve

_EFFORT = 5.0
"""About as many seconds; somebody waits for the answer at a terminal."""


def certainty(explanation: Explanation) -> str:
    """How sure it is that the group cannot start in the room that is free."""
    proof, impasse = explanation.situation.proof, explanation.impasse
    if proof is None:
        return ""
    if not proof.doubts or not isinstance(impasse, Impasse):
        return proof.sentence
    match solve(impasse.puzzle, _EFFORT).outcome:
        case Outcome.PLACED:
            return "A placement exists; it takes an exact search to find it, which the scheduler makes before it gives up."
        case Outcome.IMPOSSIBLE:
            return "No placement exists in the room that is free; an exact search has proven it."
        case _:
            return "A placement may exist all the same: an exact search did not end in time."
