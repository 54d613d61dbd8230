"""What would let a group start: each remedy is the smallest of its kind, and none is named that would not do."""

from posse.engine.placement_problem import (
    NEW_DOMAIN,
    EvictableUnit,
    Evicting,
    GroupDemand,
    MoreNodes,
    NodeShape,
    PlacementProblem,
    PodSet,
    RemedyProblem,
    SmallerMinimum,
    WithoutTopology,
)
from posse.solver.remedies import remedies

EMPTY = NodeShape("n1", (8,), (4,))


def found(problem, shapes=(), **beside):
    ways = remedies(RemedyProblem(problem, (), shapes, **beside))
    return None if ways is None else [one for kind in ways.kinds for one in kind]


def more(shape, number):
    return MoreNodes(((shape, number),))


def problem(free, minimum, number, wanted=2, **more):
    room = tuple(amount // wanted for amount in free)
    return PlacementProblem(
        (free,),
        (PodSet((wanted,), room),),
        GroupDemand(minimum, ((0, number),), **more.pop("demand", {})),
        **more,
    )


def test_enough_nodes_and_no_more():
    assert more(EMPTY, 2) in found(problem((2, 2), minimum=9, number=9), (EMPTY,))


def test_the_shape_of_which_fewest_are_needed_comes_first():
    small = NodeShape("n2", (2,), (1,))
    ways = found(problem((2,), minimum=5, number=5), (small, EMPTY))
    assert ways[:2] == [more(EMPTY, 1), more(small, 4)]


def test_nodes_on_which_no_pod_may_be_are_no_remedy():
    closed = NodeShape("n2", (8,), (0,))
    assert not [one for one in found(problem((2,), 3, 3), (closed,)) if isinstance(one, MoreNodes)]


def test_the_largest_minimum_that_works():
    assert SmallerMinimum(0, 2) in found(problem((2, 2), minimum=9, number=9))


def test_no_minimum_helps_where_nothing_fits():
    assert found(problem((1, 1), minimum=2, number=2)) == []


def test_a_group_that_fits_in_the_cluster_but_in_no_rack():
    racks = problem((2, 2), 2, 2, domains=((0, 1),), demand={"key": 0})
    assert WithoutTopology(0) in found(racks)
    assert SmallerMinimum(0, 1) in found(racks)


def test_a_further_node_helps_only_in_the_rack_where_it_is():
    racks = problem((4, 2), 3, 3, domains=((0, 1),), demand={"key": 0})
    in_first, in_second = NodeShape("a", (2,), (1,), (0,)), NodeShape("b", (2,), (1,), (1,))
    ways = found(racks, (in_first, in_second))
    assert [one for one in ways if isinstance(one, MoreNodes)] == [more(in_first, 1), more(in_second, 2)]


def test_each_further_node_may_be_a_domain_of_its_own():
    hosts = problem((2, 2), 3, 3, domains=((0, 1),), demand={"key": 0})
    small, large = NodeShape("a", (4,), (2,), (NEW_DOMAIN,)), NodeShape("b", (6,), (3,), (NEW_DOMAIN,))
    ways = found(hosts, (small, large))
    assert [one for one in ways if isinstance(one, MoreNodes)] == [more(large, 1)]


def test_of_a_tree_each_minimum_is_looked_at_by_itself():
    """Two children of two pods each; three pods fit. What can be changed in place comes first."""
    child = GroupDemand(2, ((0, 2),))
    tree = PlacementProblem(((6,),), (PodSet((2,), (3,)),), GroupDemand(2, children=(child, child)))
    assert found(tree) == [SmallerMinimum(1, 1), SmallerMinimum(2, 1), SmallerMinimum(0, 1)]


def test_the_minimum_of_a_team_that_needs_nobody_more_is_not_lowered():
    tree = PlacementProblem(
        ((0,),),
        (PodSet((2,), (3,)),),
        GroupDemand(2, children=(GroupDemand(0, ((0, 1),)), GroupDemand(1, ((0, 1),)))),
    )
    assert found(tree) == [SmallerMinimum(0, 1)]


def test_where_somebody_has_to_be_the_nodes_of_that_domain_are_looked_at_however_many_others_there_are():
    racks = problem((4, 2), 3, 3, domains=((0, 1),), demand={"key": 0, "domain": 1})
    others = [NodeShape(f"a{size}", (2 * size,), (size,), (0,)) for size in range(1, 9)]
    here = NodeShape("b", (4,), (2,), (1,))
    assert [one for one in found(racks, (*others, here)) if isinstance(one, MoreNodes)] == [more(here, 1)]


def test_nodes_of_two_sorts_where_one_sort_does_not_do():
    """One pod goes to the first sort of nodes only, the other to the second only."""
    pod_sets = PodSet((1, 0), (0,)), PodSet((0, 1), (0,))
    both = PlacementProblem(((0,), (0,)), pod_sets, GroupDemand(2, ((0, 1), (1, 1))))
    first, second = NodeShape("a", (1, 0), (1, 0)), NodeShape("b", (0, 1), (0, 1))
    assert found(both, (first, second))[0] == MoreNodes(((first, 1), (second, 1)))


def evictable_unit(name, *freed):
    return EvictableUnit(name, tuple((node, (amount,)) for node, amount in freed))


def full(minimum, nodes=2):
    """Make nodes without room for pods of 2 each, of which each would take two if it were empty."""
    return PlacementProblem(
        ((0,) * nodes,), (PodSet((2,), (2,) * nodes),), GroupDemand(minimum, ((0, minimum),))
    )


def test_each_eviction_that_would_do_by_itself_is_named():
    small, large = evictable_unit("small", (0, 2)), evictable_unit("large", (0, 2), (1, 2))
    assert found(full(2), evictable_units=(small, large))[0] == Evicting((large,))
    assert found(full(1), evictable_units=(small, large))[:2] == [Evicting((small,)), Evicting((large,))]


def test_several_are_evicted_where_one_does_not_do_and_the_most_important_are_spared():
    low, middle, high = (
        evictable_unit(name, (node, 2)) for name, node in (("low", 0), ("middle", 1), ("high", 1))
    )
    assert found(full(2), evictable_units=(low, middle, high))[0] == Evicting((low, middle))


def test_whoever_makes_way_anyway_counts_as_gone():
    """Two pods fit once the lesser have gone; that leaves one for a further node."""
    assert found(full(3), (EMPTY,), yielding=((2, 2),))[0] == more(EMPTY, 1)
    assert found(full(6), (EMPTY,))[0] == more(EMPTY, 2)
    assert found(full(6), (EMPTY,), yielding=((4, 4),))[0] == more(EMPTY, 1)


def test_nothing_need_be_changed_where_there_is_a_solution():
    assert found(problem((4, 4), minimum=4, number=4), (EMPTY,)) is None


def test_a_node_that_is_overfilled_takes_nothing_and_stands_in_nobodys_way():
    overfilled = PlacementProblem(((-3, 4),), (PodSet((2,), (2, 2)),), GroupDemand(3, ((0, 3),)))
    assert found(overfilled, (EMPTY,))[0] == more(EMPTY, 1)


def test_nodes_for_minimum_resources_beside_those_for_the_pods():
    """The pod fits; 20 must be free in the cluster, where 4 are, one of them on a node that it may not use."""
    lacking = problem((3,), 1, 1, demand={"minimum_resources": ((0, 20),)}, elsewhere=(1,))
    assert found(lacking, (EMPTY,)) == [more(EMPTY, 2)]


def test_evictions_free_minimum_resources():
    lacking = problem((3, 0), 1, 1, demand={"minimum_resources": ((0, 8),)}, elsewhere=(0,))
    unit = EvictableUnit("other", ((1, (5,)),))
    assert found(lacking, evictable_units=(unit,)) == [Evicting((unit,))]


def test_what_is_reserved_of_minimum_resources_is_not_free():
    lacking = problem((8,), 1, 1, demand={"minimum_resources": ((0, 8),)}, elsewhere=(-2,))
    assert found(lacking, (EMPTY,)) == [more(EMPTY, 1)]


def test_pods_of_lower_priority_do_not_bring_minimum_resources():
    lacking = problem((0,), 1, 1, demand={"minimum_resources": ((0, 16),)}, elsewhere=(0,))
    assert found(lacking, (EMPTY,), yielding=((8,),)) == [more(EMPTY, 2)]
