"""What is told agrees: conditions, `posse gangs`, `posse explain` and the live view, in random states of a cluster.

The states come about by events without faults: groups, trees, reservations, preemptions and finished work. What
holds under faults is in `tests/simulation`.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulation.run import Run
from tests.support.effort import PROFILE


@settings(max_examples=1000 if PROFILE == "explore" else 25)
@given(st.integers(0, 10**6), st.booleans())
def test_conditions_lists_explanations_and_the_live_view_agree(seed, has_trees):
    counts = Run(seed, has_trees=has_trees, has_faults=False).execute()
    assert counts["truths"] > 0
