import numpy as np
import pytest

from posse.engine.nodes.node_table import load_of
from posse.engine.state.invariants import (
    InvariantBroken,
    ensure,
    no_gang_across_domains,
    no_gang_below_minimum,
    no_row_over_capacity,
)
from tests.support.builders import node
from tests.support.engine_parts import table_of


def test_a_law_that_holds_says_nothing():
    ensure(holds=True, law="all is well", number=1)


def test_a_broken_law_names_itself_and_its_numbers():
    with pytest.raises(InvariantBroken, match=r"^two is more than three \(two=2, three=3\)$"):
        ensure(holds=False, law="two is more than three", two=2, three=3)


def test_a_law_without_numbers_is_named_alone():
    with pytest.raises(InvariantBroken, match=r"^never$"):
        ensure(holds=False, law="never")


def test_only_the_rows_and_resources_asked_about_are_checked():
    table = table_of(node("a", cpu="1"), node("b", cpu="1"))
    table.change_usage(np.array([1]), load_of([(0, 2000)], (0, 0)), 1)
    no_row_over_capacity(table, np.array([0]), [0])
    no_row_over_capacity(table, np.array([1]), [1])
    with pytest.raises(InvariantBroken, match="node='b'"):
        no_row_over_capacity(table, np.array([0, 1]), [0])


def test_a_gang_at_its_minimum_may_be_bound():
    no_gang_below_minimum("g", attached=3, minimum=3)
    with pytest.raises(InvariantBroken, match="attached=2, minimum=3"):
        no_gang_below_minimum("g", attached=2, minimum=3)


def test_a_gang_may_be_in_one_domain():
    no_gang_across_domains("g", {"r1": "n1"})
    with pytest.raises(InvariantBroken, match=r"group='g', domains=\['r1', 'r2'\]"):
        no_gang_across_domains("g", ["r2", "r1"])
