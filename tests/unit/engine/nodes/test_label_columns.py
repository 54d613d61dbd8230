from posse.engine.nodes.label_columns import ABSENT, LabelColumns


def filled(**labels_by_row):
    columns = LabelColumns(4)
    for row, labels in enumerate(labels_by_row.values()):
        columns.put(row, labels)
    return columns


def test_a_column_holds_equal_ids_for_equal_values():
    column = filled(a={"zone": "east"}, b={"zone": "west"}, c={"zone": "east"}).column("zone")
    assert column.ids[0] == column.ids[2] != column.ids[1]


def test_nodes_without_the_label_and_rows_without_a_node_are_absent():
    column = filled(a={"zone": "east"}, b={}).column("zone")
    assert column.ids.tolist() == [0, ABSENT, ABSENT, ABSENT]


def test_an_empty_value_is_not_an_absent_label():
    column = filled(a={"spot": ""}, b={}).column("spot")
    assert column.ids[0] == column.id_of("") != ABSENT
    assert column.ids[1] == ABSENT


def test_an_unknown_value_has_an_id_that_no_row_has():
    column = filled(a={"zone": "east"}, b={}).column("zone")
    assert column.id_of("nowhere") not in column.ids.tolist()


def test_a_column_asked_for_early_follows_later_changes():
    columns = filled(a={"zone": "east"})
    column = columns.column("zone")
    columns.put(0, {"zone": "west"})
    columns.put(1, {"zone": "east"})
    assert [column.values[i] for i in column.ids[:2]] == ["west", "east"]


def test_a_label_that_is_removed_becomes_absent():
    columns = filled(a={"zone": "east"})
    column = columns.column("zone")
    columns.put(0, {"rack": "r1"})
    assert column.ids[0] == ABSENT


def test_growing_keeps_what_is_known_and_new_rows_are_absent():
    columns = filled(a={"zone": "east"})
    column = columns.column("zone")
    columns.grow(8)
    assert column.ids.tolist() == [0] + [ABSENT] * 7
    columns.put(7, {"zone": "east"})
    assert column.ids[7] == column.ids[0]


def test_a_column_asked_for_after_growing_has_the_full_size():
    columns = filled(a={"zone": "east"})
    columns.grow(8)
    assert columns.column("zone").ids.size == 8


def test_a_key_is_the_same_column_every_time():
    columns = filled(a={"zone": "east"})
    assert columns.column("zone") is columns.column("zone")


def test_a_column_asked_for_late_is_the_same_as_one_asked_for_early():
    columns, late = LabelColumns(5), LabelColumns(5)
    early = columns.column("zone")
    for row, zone in enumerate(("east", "west", "east", "north")):
        for each in (columns, late):
            each.put(row, {"zone": zone})
    for zone in ("north", "south", "east"):
        found = late.column("zone")
        assert (found.ids.tolist(), found.values) == (early.ids.tolist(), early.values)
        assert found.is_one_to_one == early.is_one_to_one
        for each in (columns, late):
            each.put(2, {"zone": zone})


def test_a_column_of_a_key_that_nodes_no_longer_have_is_empty():
    columns = filled(a={"zone": "east"})
    columns.put(0, {})
    column = columns.column("zone")
    assert column.ids.tolist() == [ABSENT] * 4
    assert column.is_one_to_one
