"""Remedies of a waiting group, each with the question to `posse plan` that previews it."""

from typing import Any

from posse.cli.explain.targets import typed
from posse.engine.explain.explanation import Explanation
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import (
    DemandName,
    Evicting,
    MoreNodes,
    Remedy,
    RemedyProblem,
    SmallerMinimum,
    WithoutTopology,
)
from posse.engine.reporting.remedy_messages import BEHIND, remedy_text, yields_capacity
from posse.solver.remedies import remedies

Json = dict[str, Any]


def remedy_answer(explanation: Explanation, key: GroupKey) -> Json:
    """The question is None where a plan cannot show the remedy; the caveat is empty if nothing is ahead."""
    problem = explanation.remedy_problem
    found = remedies(problem) if isinstance(problem, RemedyProblem) else None
    if found is None or not isinstance(problem, RemedyProblem):
        return {"remedies": [], "caveat": ""}
    ways = [
        {"text": remedy_text(remedy, problem.demands), "question": _question(remedy, problem.demands, key)}
        for kind in found.kinds
        for remedy in kind
    ]
    is_behind = explanation.ahead is not None and explanation.ahead.may_be_any
    return {"remedies": ways, "caveat": f"{BEHIND}." if is_behind and yields_capacity(found) else ""}


def _question(remedy: Remedy, demands: tuple[DemandName, ...], key: GroupKey) -> Json | None:
    asked = {"of": typed(key), "namespace": key.namespace}
    is_one_group = len(demands) == 1 and not demands[0].is_composite
    match remedy:
        case MoreNodes(nodes) if not any(shape.where for shape, _ in nodes):
            return asked | {"addNodes": ",".join(f"{number}={shape.like}" for shape, number in nodes)}
        case Evicting(units):
            names = [unit.name.partition(" ") for unit in units]
            if all(place.partition("/")[0] == key.namespace for _, _, place in names):
                return asked | {
                    "without": ",".join(f"{kind}/{place.partition('/')[2]}" for kind, _, place in names)
                }
        case SmallerMinimum(number, minimum) if is_one_group:
            return asked | {"minCount": str(demands[number].running + minimum)}
        case WithoutTopology() if is_one_group:
            return asked | {"noTopology": "true"}
        case _:
            pass
    return None
