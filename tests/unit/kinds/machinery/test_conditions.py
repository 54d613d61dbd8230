"""Conditions of pods and nodes."""

from posse.kinds.machinery.conditions import core_conditions_errors
from posse.model.pod import PodCondition


class Compared(PodCondition):
    comparisons = 0

    def __eq__(self, other):
        Compared.comparisons += 1
        return self is other

    __hash__ = None


def test_conditions_that_were_there_before_may_stay_and_others_are_judged():
    bad = PodCondition(type="no type", status="Perhaps")
    assert core_conditions_errors("status.conditions", [bad], [bad]) == []
    changed = PodCondition(type="no type", status="Perhaps", message="new")
    fields = [error.field for error in core_conditions_errors("status.conditions", [changed], [bad])]
    assert fields == ["status.conditions[0].type", "status.conditions[0].status"]


def test_conditions_are_not_compared_one_by_one():
    """20,000 of them in a status kept everybody waiting for a minute."""
    made = [Compared(type=f"t{number}", status="True") for number in range(200)]
    core_conditions_errors("status.conditions", made, list(reversed(made)))
    assert Compared.comparisons == 0
