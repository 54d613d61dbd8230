"""The fewest domains, compared with looking at every set of domains."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posse.engine.placement.search.fewest_domains import fewest_domains, fewest_new_domains

SIZES = st.lists(st.integers(0, 9), max_size=7)


def every_set(free, wanted):
    """The first of the smallest sets that suffice, by sizes in ascending order, and then by position."""
    some = sorted(((size, index) for index, size in enumerate(free) if size), key=lambda one: one)
    for count in range(len(some) + 1):
        enough = [chosen for chosen in combinations(some, count) if sum(s for s, _ in chosen) >= wanted]
        if enough:
            return [index for _, index in min(enough)]
    return [index for _, index in some]


@given(SIZES, st.integers(1, 40))
def test_no_smaller_set_of_domains_suffices_and_large_ones_are_kept(free, wanted):
    assert fewest_domains(np.array(free, dtype=np.int64), wanted) == every_set(free, wanted)


@given(SIZES, st.integers(1, 40), st.data())
def test_domains_in_use_come_first(free, wanted, data):
    in_use = data.draw(st.lists(st.integers(0, len(free) - 1), max_size=4)) if free else []
    used = sorted(set(in_use))
    expected = [used[one] for one in every_set([free[one] for one in used], wanted)]
    left = wanted - sum(free[one] for one in expected)
    if left > 0:
        expected += every_set([0 if one in used else size for one, size in enumerate(free)], left)
    chosen = fewest_new_domains(np.array(free, dtype=np.int64), wanted, np.array(in_use, dtype=np.int64))
    assert chosen == expected
