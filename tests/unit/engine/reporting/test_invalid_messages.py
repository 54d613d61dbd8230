"""Every problem of a group has a sentence."""

from typing import get_args

from posse.engine.invalid_groups import GroupProblem
from posse.engine.reporting.invalid_messages import problem_text


def test_every_problem_of_a_group_has_a_sentence():
    assert {kind for kind in get_args(GroupProblem) if kind not in problem_text.registry} == set()
