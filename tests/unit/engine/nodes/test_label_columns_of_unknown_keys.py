"""Keys that no node has cost no memory beyond the rules that ask for them, and work once a node has them."""

import gc

from posse.engine.nodes.label_columns import ABSENT, LabelColumns


def test_a_key_that_no_node_has_is_forgotten_with_the_last_rule_that_reads_it():
    labels = LabelColumns(4)
    labels.put(0, {"zone": "a"})
    column = labels.column("strange")
    assert labels.column("strange") is column
    del column
    gc.collect()
    assert "strange" not in labels._absent
    assert "strange" not in labels._columns


def test_a_column_in_use_follows_a_node_that_brings_the_key():
    labels = LabelColumns(2)
    column = labels.column("late")
    labels.grow(3)
    labels.put(2, {"late": "v"})
    assert labels.column("late") is column
    assert column.ids.tolist() == [ABSENT, ABSENT, 0]
    labels.put(2, {})
    assert column.ids.tolist() == [ABSENT] * 3


def test_a_column_read_later_has_the_values_of_all_nodes():
    labels = LabelColumns(3)
    labels.put(1, {"zone": "b"})
    labels.put(0, {"zone": "a"})
    labels.put(1, {"zone": "c"})
    column = labels.column("zone")
    assert [column.values[number] if number != ABSENT else "" for number in column.ids] == ["a", "c", ""]
