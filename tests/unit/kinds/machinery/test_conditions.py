"""Conditions of pods and nodes, which need no reason and no time."""

from posse.kinds.machinery.declared import declared_errors
from posse.model.pod import PodCondition, PodStatus


class Compared(PodCondition):
    comparisons = 0

    def __eq__(self, other):
        Compared.comparisons += 1
        return self is other

    __hash__ = None


def fields(new, old):
    errors = declared_errors("status", PodStatus(conditions=tuple(new)), PodStatus(conditions=tuple(old)))
    return [error.field for error in errors]


def test_conditions_that_were_there_before_may_stay_and_others_are_judged():
    bad = PodCondition(type="no type", status="Perhaps")
    good = PodCondition(type="Ready", status="True")
    assert fields([bad, good], [bad]) == []
    changed = PodCondition(type="no type", status="Perhaps", message="new")
    assert fields([changed], [bad]) == ["status.conditions[0].type", "status.conditions[0].status"]


def test_each_condition_is_compared_with_few_others():
    """20,000 of them in a status kept everybody waiting for a minute."""
    made = [Compared(type=f"t{number}", status="True") for number in range(200)]
    fields(made, reversed(made))
    assert Compared.comparisons <= 2 * len(made)
