"""Small trees of gangs on small clusters, against going through every placement: nothing that fits is refused."""

import random

import pytest

from bench.answers import answer
from bench.tree_instances import instance
from tests.differential.every_placement import is_solvable
from tests.support.effort import up_to


@pytest.mark.parametrize("seed", range(up_to(120)))
def test_a_tree_starts_exactly_if_there_is_a_way(seed):
    one = instance(random.Random(seed))
    found = answer(one.objects(), asks=True)
    assert found.started is is_solvable(one.problem)
    assert found.started or found.is_proof


@pytest.mark.parametrize("seed", range(120, 120 + up_to(120)))
def test_without_the_exact_search_a_proof_is_one_all_the_same(seed):
    one = instance(random.Random(seed))
    found = answer(one.objects(), asks=False)
    if found.is_proof:
        assert not is_solvable(one.problem)
    elif found.started:
        assert is_solvable(one.problem)
