import numpy as np

from posse.engine.nodes.node_table import NodeTable, load_of
from posse.model.node import ContainerImage
from tests.support.builders import changed, node, nodes, taint
from tests.support.engine_parts import table_of


def offered(table, name, resource):
    return int(table.allocatable[table.resource_index[resource], table.row_of[name]])


def use(table, rows, requests, scoring, pods=1):
    """Count a pod with these requests on each of the rows."""
    table.change_usage(rows, load_of(requests, scoring), pods)
    table.touch_all(rows)


def usage(table, row):
    return table.requested[:, row].tolist(), table.scoring_requested[:, row].tolist()


def test_a_row_shows_what_the_node_offers():
    table = table_of(node("a", cpu="1500m", memory="2Gi", pods="10", **{"example.com/gpu": 8}))
    assert offered(table, "a", "cpu") == 1500
    assert offered(table, "a", "memory") == 2 * 2**30
    assert offered(table, "a", "pods") == 10
    assert offered(table, "a", "example.com/gpu") == 8


def test_what_a_node_does_not_name_it_has_none_of():
    table = table_of(node("a", **{"example.com/gpu": 8}), node("b"))
    assert offered(table, "b", "example.com/gpu") == 0
    assert offered(table, "b", "ephemeral-storage") == 0


def test_a_resource_no_node_has_gets_a_column_of_nothing():
    table = table_of(*nodes(3))
    index = table.resource("example.com/gpu")
    assert table.allocatable[index].tolist() == [0] * table.alive.size
    assert table.resource("example.com/gpu") == index


def test_a_changed_node_keeps_its_row_and_its_usage():
    table = table_of(node("a", cpu="4"))
    use(table, np.array([0]), [(0, 500)], (500, 7))
    row = table.put(node("a", cpu="2", unschedulable=True, taints=[taint("k")]))
    assert row == 0
    assert offered(table, "a", "cpu") == 2000
    assert table.unschedulable[0]
    assert table.taint_sets[table.taint_set[0]] == (taint("k"),)
    assert usage(table, 0) == ([500, 0, 0, 0], [500, 7])


def test_a_resource_the_node_stops_offering_is_gone():
    table = table_of(node("a", **{"example.com/gpu": 8}))
    table.put(node("a"))
    assert offered(table, "a", "example.com/gpu") == 0


def test_nodes_with_equal_taints_share_one_set():
    table = table_of(node("a", taints=[taint("k")]), node("b"), node("c", taints=[taint("k")]))
    assert table.taint_set[0] == table.taint_set[2] != table.taint_set[1]
    assert table.taint_sets == [(), (taint("k"),)]


def test_a_dropped_node_leaves_nothing_behind():
    table = table_of(node("a", labels={"zone": "east"}), node("b"))
    zone = table.labels.column("zone")
    use(table, np.array([0]), [(0, 500)], (500, 7))
    table.drop("a")
    assert len(table) == 1
    assert "a" not in table.row_of
    assert not table.alive[0]
    assert usage(table, 0) == ([0, 0, 0, 0], [0, 0])
    assert table.allocatable[:, 0].tolist() == [0, 0, 0, 0]
    assert zone.ids[0] == -1


def test_a_free_row_is_used_again_with_nothing_of_its_former_node():
    table = table_of(
        node("a", unschedulable=True, taints=[taint("k")], labels={"zone": "east"}, **{"x.io/gpu": 8}),
        node("b"),
    )
    table.drop("a")
    assert table.put(node("c", cpu="1")) == 0
    assert table.row_count == 2
    assert not table.unschedulable[0]
    assert table.taint_sets[table.taint_set[0]] == ()
    assert table.names[0] == "c"
    assert offered(table, "c", "x.io/gpu") == 0
    assert table.labels.column("zone").ids[0] == -1


def test_columns_grow_with_the_nodes():
    many = [node(f"n{i}", labels={"ordinal": str(i)}) for i in range(200)]
    table = NodeTable()
    ordinal = table.labels.column("ordinal")
    for one in many:
        table.put(one)
    assert len(table) == 200
    assert table.alive.size >= 200
    assert table.alive[:200].all()
    assert not table.alive[200:].any()
    assert [ordinal.values[ordinal.ids[row]] for row in range(200)] == [str(i) for i in range(200)]
    assert offered(table, "n199", "cpu") == 4000


def test_growing_keeps_usage():
    table = table_of(*nodes(64))
    use(table, np.array([63]), [(0, 500)], (500, 7))
    table.put(node("one-more"))
    assert usage(table, 63) == ([500, 0, 0, 0], [500, 7])


def test_usage_added_and_subtracted_is_no_usage():
    table = table_of(*nodes(3))
    use(table, np.array([0, 2]), [(0, 500), (3, 1)], (500, 7))
    assert usage(table, 2) == ([500, 0, 0, 1], [500, 7])
    use(table, np.array([0, 2]), [(0, 500), (3, 1)], (500, 7), pods=-1)
    assert not table.requested.any()
    assert not table.scoring_requested.any()


def test_every_change_moves_the_version():
    table = NodeTable()
    versions = [table.version]
    for change in (
        lambda: table.put(node("a")),
        lambda: table.put(changed(node("a"), spec={"unschedulable": True})),
        lambda: use(table, np.array([0]), [(0, 1)], (1, 1)),
        lambda: table.drop("a"),
    ):
        change()
        versions.append(table.version)
    assert versions == sorted(set(versions))


def test_touched_rows_are_named_as_often_as_they_were_touched():
    table = table_of(*nodes(10))
    before = table.version
    use(table, np.array([4, 2]), [(0, 1)], (1, 1))
    use(table, np.array([4]), [(0, 1)], (1, 1))
    assert table.touched_since(before).tolist() == [4, 2, 4]


def test_nothing_touched_is_no_rows():
    table = table_of(*nodes(10))
    assert table.touched_since(table.version).tolist() == []


def test_when_most_rows_were_touched_a_fresh_look_is_asked_for():
    table = table_of(*nodes(10))
    before = table.version
    use(table, np.arange(6), [(0, 1)], (1, 1))
    assert table.touched_since(before) is None


def test_the_log_of_touches_is_trimmed_and_old_versions_look_at_everything():
    table = table_of(*nodes(10))
    old = table.version
    for _ in range(1000):
        table.touch(3)
    assert table.touched_since(old) is None
    recent = table.version
    table.touch(5)
    assert table.touched_since(old) is None
    assert table.touched_since(recent).tolist() == [5]
    assert len(table._touched) <= 4 * 64


def test_rows_are_ranked_by_name_whichever_node_came_first():
    table = table_of(node("c"), node("a"), node("b"))
    assert table.name_ranks().tolist() == [2, 0, 1]
    table.drop("a")
    table.put(node("d"))
    assert table.name_ranks().tolist() == [1, 2, 0]


def test_images_are_those_that_a_node_holds_at_present():
    table, bare = NodeTable(), node("a")
    with_image = changed(bare, status={"images": (ContainerImage(("app:1",), 5),)})
    table.put(with_image)
    column = table.images.column("app:1")
    assert (table.images.holders("app:1"), int(column[0])) == (1, 5)
    table.put(bare)
    assert (table.images.holders("app:1"), int(column[0])) == (0, -1)
    table.put(with_image)
    table.drop("a")
    assert (table.images.holders("app:1"), int(column[0])) == (0, -1)
