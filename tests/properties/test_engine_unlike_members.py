"""Small gangs whose pods have rules about each other, against going through every sequence: none that fits is refused, or proven not to."""

import random

import pytest

from bench.answers import answer
from bench.rule_instances import rule_instance


@pytest.mark.parametrize("seed", range(150))
def test_a_gang_with_rules_between_its_pods_starts_exactly_if_there_is_a_way(seed):
    one = rule_instance(random.Random(seed))
    found = answer(one.objects(), asks=seed % 2 == 0)
    assert found.started is one.is_solvable()
    assert found.started or found.is_proof
