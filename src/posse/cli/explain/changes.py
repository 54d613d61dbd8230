"""Changes that would let a group start, as texts."""

from posse.cli.explain.preemption_words import passing_text
from posse.engine.explain.explanation import Explanation
from posse.engine.placement_problem import RemedyProblem
from posse.engine.reporting.remedy_messages import BEHIND, remedy_texts
from posse.solver.remedies import remedies


def changes_of(explanation: Explanation | None) -> tuple[str, ...]:
    """Each of them would do; none where none is needed, known or searched for."""
    problem = explanation.remedy_problem if explanation is not None else None
    if explanation is not None and problem is None and explanation.situation.reservation is not None:
        return tuple(passing_text(explanation.reserved))
    if not isinstance(problem, RemedyProblem):
        return ()
    found = remedies(problem)
    return tuple(remedy_texts(found, problem.demands)) if found is not None else ()


def caveat_of(explanation: Explanation | None) -> str:
    """What may take the capacity that such changes add or free; empty if nothing waits ahead."""
    is_behind = explanation is not None and explanation.ahead is not None and explanation.ahead.may_be_any
    return f"{BEHIND}." if is_behind else ""
