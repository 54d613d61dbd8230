"""What would let a group start: each remedy is the smallest of its kind, and none is named that would not do."""

from posse.engine.puzzle import NodeShape, Puzzle, Sort, Team
from posse.solver.remedies import MoreNodes, SmallerMinimum, WithoutTopology, remedies

EMPTY = NodeShape("n1", (8,), (4,))


def puzzle(free, minimum, number, wanted=2, **more):
    room = tuple(amount // wanted for amount in free)
    return Puzzle(
        (free,), (Sort((wanted,), room),), Team(minimum, ((0, number),), **more.pop("team", {})), **more
    )


def test_enough_nodes_and_no_more():
    assert MoreNodes(EMPTY, 2) in remedies(puzzle((2, 2), minimum=9, number=9), (EMPTY,))


def test_the_shape_of_which_fewest_are_needed_comes_first():
    small = NodeShape("n2", (2,), (1,))
    found = remedies(puzzle((2,), minimum=5, number=5), (small, EMPTY))
    assert found[:2] == [MoreNodes(EMPTY, 1), MoreNodes(small, 4)]


def test_nodes_on_which_no_pod_may_be_are_no_remedy():
    closed = NodeShape("n2", (8,), (0,))
    assert not [one for one in remedies(puzzle((2,), 3, 3), (closed,)) if isinstance(one, MoreNodes)]


def test_the_largest_minimum_that_works():
    assert SmallerMinimum(0, 2) in remedies(puzzle((2, 2), minimum=9, number=9), ())


def test_no_minimum_helps_where_nothing_fits():
    assert remedies(puzzle((1, 1), minimum=2, number=2), ()) == []


def test_a_group_that_fits_in_the_cluster_but_in_no_rack():
    racks = puzzle((2, 2), 2, 2, domains=((0, 1),), team={"key": 0})
    assert WithoutTopology(0) in remedies(racks, ())
    assert SmallerMinimum(0, 1) in remedies(racks, ())


def test_a_further_node_helps_only_in_the_rack_where_it_is():
    racks = puzzle((4, 2), 3, 3, domains=((0, 1),), team={"key": 0})
    in_first, in_second = NodeShape("a", (2,), (1,), (0,)), NodeShape("b", (2,), (1,), (1,))
    found = remedies(racks, (in_first, in_second))
    assert [one for one in found if isinstance(one, MoreNodes)] == [
        MoreNodes(in_first, 1),
        MoreNodes(in_second, 2),
    ]


def test_of_a_tree_each_minimum_is_looked_at_by_itself():
    """Two children of two pods each; three pods fit."""
    child = Team(2, ((0, 2),))
    tree = Puzzle(((6,),), (Sort((2,), (3,)),), Team(2, children=(child, child)))
    assert remedies(tree, ()) == [SmallerMinimum(0, 1), SmallerMinimum(1, 1), SmallerMinimum(2, 1)]
