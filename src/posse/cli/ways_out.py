"""What would let a refused group start, in words; and whether it really cannot, where the engine alone is not sure."""

from collections.abc import Iterator

from posse.engine.asking import TeamName
from posse.engine.explaining import Explanation
from posse.engine.puzzle import Outcome
from posse.solver.remedies import MoreNodes, Remedy, SmallerMinimum, WithoutTopology, remedies
from posse.solver.solving import solve

_EFFORT = 5.0
"""About as many seconds; somebody waits for the answer at a terminal."""


def certainty(explanation: Explanation) -> str:
    """How sure it is that the group cannot start in the room that is free."""
    proof, puzzle = explanation.situation.proof, explanation.puzzle
    if proof is None:
        return ""
    if not proof.doubts or puzzle is None:
        return proof.sentence
    match solve(puzzle, _EFFORT).outcome:
        case Outcome.PLACED:
            return "A placement exists; it takes an exact search to find it, which the scheduler makes before it gives up."
        case Outcome.IMPOSSIBLE:
            return "No placement exists in the room that is free; an exact search has proven it."
        case _:
            return "A placement may exist all the same: an exact search did not end in time."


def ways_out(explanation: Explanation) -> Iterator[str]:
    if explanation.puzzle is not None:
        for remedy in remedies(explanation.puzzle, explanation.shapes):
            yield from _in_words(remedy, explanation)


def _in_words(remedy: Remedy, explanation: Explanation) -> Iterator[str]:
    match remedy:
        case MoreNodes(shape, number):
            yield (
                f"1 more node like {shape.like}" if number == 1 else f"{number} more nodes like {shape.like}"
            )
        case SmallerMinimum(number, minimum):
            team = explanation.teams[number]
            field = "minGroupCount" if team.key.is_composite else "minCount"
            yield f"a {field} of {team.running + minimum} instead of {team.minimum}{_of(team, explanation)}"
        case WithoutTopology(number):
            of = _of(explanation.teams[number], explanation)
            yield f"no topology key{of}: there is room outside of any one domain"


def _of(team: TeamName, explanation: Explanation) -> str:
    """Which group of a tree is meant."""
    return f" of {team.key.name}" if len(explanation.teams) > 1 else ""
