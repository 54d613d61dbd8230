"""Changes that would let a group start, as texts."""

from posse.engine.explain.explanation import Explanation
from posse.engine.placement_problem import RemedyProblem
from posse.engine.reporting.remedy_messages import remedy_texts
from posse.solver.remedies import remedies


def changes_of(explanation: Explanation | None) -> tuple[str, ...]:
    """Each of them would do; none where none is needed, known or searched for."""
    problem = explanation.remedy_problem if explanation is not None else None
    if not isinstance(problem, RemedyProblem):
        return ()
    found = remedies(problem)
    return tuple(remedy_texts(found, problem.demands)) if found is not None else ()
