from posse.cli.tables import table_lines

TABLE = {
    "columnDefinitions": [
        {"name": "Name", "priority": 0},
        {"name": "Status"},
        {"name": "Node", "priority": 1},
    ],
    "rows": [
        {"cells": ["first", "Running", "n1"], "object": {"metadata": {"namespace": "team"}}},
        {"cells": ["x", None, 7], "object": {"metadata": {}}},
    ],
}


def test_columns_line_up_and_wide_ones_are_hidden():
    assert table_lines(TABLE, wide=False, with_namespace=False) == [
        "NAME    STATUS",
        "first   Running",
        "x",
    ]


def test_wide_shows_all_columns_and_namespaces_come_first():
    assert table_lines(TABLE, wide=True, with_namespace=True) == [
        "NAMESPACE   NAME    STATUS    NODE",
        "team        first   Running   n1",
        "            x                 7",
    ]
