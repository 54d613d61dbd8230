"""Puzzles are solved in another process, one after the other; one that dies costs an answer, not the scheduler."""

import asyncio
import subprocess
import sys
from contextlib import aclosing

import pytest

from posse.engine.decisions import Advise, Solve
from posse.engine.events import Advised
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import (
    DemandName,
    GroupDemand,
    MoreNodes,
    NodeShape,
    PlacementProblem,
    PodSet,
    Remedies,
    RemedyProblem,
    SmallerMinimum,
)
from posse.engine.proof import Outcome
from posse.runtime.scheduling.exact_search import ExactSearch
from posse.solver.frames import SolveRequest, frame

KEY, OTHER = GroupKey("test", "g1"), GroupKey("test", "g2")
EFFORT = 10.0


def problem(minimum):
    """A node for two pods."""
    return PlacementProblem(((2,),), (PodSet((1,), (2,)),), GroupDemand(minimum, ((0, minimum),)))


def test_puzzles_are_answered_in_order():
    async def scenario():
        search = ExactSearch()
        search.put(Solve(KEY, 1, problem(2), EFFORT))
        search.put(Solve(OTHER, 2, problem(3), EFFORT))
        async with aclosing(search.answers()) as answers:
            return [await anext(answers), await anext(answers)]

    first, second = asyncio.run(scenario())
    assert (first.number, first.solution.outcome) == (1, Outcome.PLACED)
    assert first.solution.shares == ((((0, 2),),),)
    assert (second.number, second.solution.outcome) == (2, Outcome.IMPOSSIBLE)


def test_a_puzzle_that_kills_the_process_counts_as_not_solved_and_the_next_one_is_answered():
    async def scenario():
        search = ExactSearch()
        # The sort names a node that does not exist: the process stumbles over it.
        broken = PlacementProblem(((2,),), (PodSet((1, 1), (2,)),), GroupDemand(1, ((5, 1),)))
        search.put(Solve(KEY, 1, broken, EFFORT))
        search.put(Solve(OTHER, 2, problem(2), EFFORT))
        async with aclosing(search.answers()) as answers:
            return [await anext(answers), await anext(answers)]

    first, second = asyncio.run(scenario())
    assert first.solution.outcome is Outcome.EXHAUSTED
    assert second.solution.outcome is Outcome.PLACED


@pytest.mark.parametrize("sent", [1.0, 0.5])
def test_the_process_ends_without_a_word_when_who_asked_is_gone(sent):
    request = frame(SolveRequest(problem(2), EFFORT))
    process = subprocess.Popen(
        [sys.executable, "-m", "posse.solver"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    process.stdin.write(request[: int(sent * len(request))])
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(20)


def test_of_several_questions_about_a_group_only_the_last_is_answered():
    async def scenario():
        search = ExactSearch()
        search.put(Solve(KEY, 1, problem(2), EFFORT))
        search.put(Solve(KEY, 2, problem(3), EFFORT))
        async with aclosing(search.answers()) as answers:
            return await anext(answers)

    assert asyncio.run(scenario()).number == 2


def test_whether_a_group_fits_is_answered_before_what_would_let_another_start():
    remedy_problem = RemedyProblem(
        problem(3), (DemandName("g2", False, 3, 0),), (NodeShape("n1", (2,), (2,)),)
    )

    async def scenario():
        search = ExactSearch()
        search.put(Advise(OTHER, 1, remedy_problem))
        search.put(Solve(KEY, 1, problem(2), EFFORT))
        async with aclosing(search.answers()) as answers:
            return [await anext(answers), await anext(answers)]

    first, second = asyncio.run(scenario())
    assert first.solution.outcome is Outcome.PLACED
    more_nodes = MoreNodes(((NodeShape("n1", (2,), (2,)), 1),))
    assert second == Advised(OTHER, 1, Remedies((more_nodes,), smaller_minimums=(SmallerMinimum(0, 2),)))
