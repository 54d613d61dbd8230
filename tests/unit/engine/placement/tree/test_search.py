"""How long a tree is searched for: not at the cost of what need not start, and longer where there is no exact search."""

from posse.engine.decisions import Solve
from posse.engine.exact import problem_builder as asking
from posse.engine.groups.tree import root_of
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.placement.tree.search import TreeSearch
from posse.engine.state.draft import Draft
from tests.support.builders import NAMESPACE, composite, gang, node, one_domain, pod
from tests.support.engine_driver import Driver, binds


def groups(*sizes, **spec):
    for number, size in enumerate(sizes):
        yield gang(f"g{number}", size, parent_composite_pod_group_name="root", **spec)
        yield from (pod(f"g{number}-{index}", cpu="1", group=f"g{number}") for index in range(size))


def test_what_need_not_start_has_steps_of_its_own():
    driver = Driver(node(cpu="9"), composite("root", 1), *groups(1, 2, 3))
    known = driver.engine._knowledge
    top = root_of(known.groups, GroupKey(NAMESPACE, "root", is_composite=True)).top
    search = TreeSearch(known.state, Draft(known.state), steps_left=1, further_steps=2)
    next(search.ways(top, None))
    search.start_further(top, None)
    assert len(search.draft.placed()) == 6
    search.draft.roll_back()


def test_equal_groups_are_tried_once_each():
    driver = Driver(node(cpu="9"), composite("root", 20), *groups(*[2] * 20))
    known = driver.engine._knowledge
    top = root_of(known.groups, GroupKey(NAMESPACE, "root", is_composite=True)).top
    search = TreeSearch(known.state, Draft(known.state), steps_left=100, further_steps=0)
    assert list(search.ways(top, None)) == []
    assert search.steps_left == 95, "four groups start, the fifth does not, and that is all"
    assert search.draft.placed() == ()


def test_equal_groups_go_elsewhere_for_another_group():
    """The pod of b fits only if both pods of one gang of a are on the larger node."""
    below = {"parent_composite_pod_group_name": "a"}
    tree = [composite("root", 2), composite("a", 2, parent_composite_pod_group_name="root")]
    tree += [gang("a0", 2, **below), gang("a1", 2, **below)]
    tree += [pod(f"a{number}-{i}", cpu="2", group=f"a{number}") for number in range(2) for i in range(2)]
    tree += [gang("b", 1, parent_composite_pod_group_name="root"), pod("b-0", cpu="3", group="b")]
    [bind] = binds(Driver(node("n0", cpu="6"), node("n1", cpu="5"), *tree).decide())
    assert len(bind.placements) == 5


def tight_racks(**options):
    """Each rack is filled to the last core but one; found by comparison with a longer search."""
    racks = [node(f"n{size}", cpu=str(size), labels={"rack": f"r{size}"}) for size in (6, 10, 11)]
    tree = groups(7, 5, 5, 5, 4, **one_domain())
    return Driver(*racks, composite("root", 5), *tree, options=EngineOptions(**options))


def test_whoever_can_ask_does_so_before_a_long_search():
    [question] = tight_racks(asks=True).decide()
    assert isinstance(question, Solve)


def test_where_nobody_can_be_asked_the_search_is_long(monkeypatch):
    monkeypatch.setattr(asking, "_MAX_CELLS", 0)
    [bind] = binds(tight_racks(asks=True).decide())
    assert len(bind.placements) == 26
