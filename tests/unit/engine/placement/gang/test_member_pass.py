import pytest

from posse.engine.placement.gang.member_pass import Feasibility, PassProgress


@pytest.mark.parametrize(
    ("placed", "untried", "resolvable", "expected"),
    [
        (4, 0, 0, Feasibility.SUCCESS),
        (5, 3, 2, Feasibility.SUCCESS),
        (3, 1, 0, Feasibility.WAIT),
        (0, 4, 0, Feasibility.WAIT),
        (3, 0, 1, Feasibility.UNSCHEDULABLE),
        (1, 1, 2, Feasibility.UNSCHEDULABLE),
        (3, 0, 0, Feasibility.UNRESOLVABLE),
        (0, 2, 1, Feasibility.UNRESOLVABLE),
    ],
)
def test_the_four_answers_for_a_minimum_of_four(placed, untried, resolvable, expected):
    assert PassProgress(4, placed, untried, resolvable).feasibility is expected
