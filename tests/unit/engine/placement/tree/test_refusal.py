"""How a tree is described that does not start, though it would with nodes of equal rank in another order."""

from posse.engine.groups.tree import root_of
from posse.engine.keys import GroupKey
from posse.engine.placement.tree.refusal import fare
from tests.support.builders import NAMESPACE, composite, gang, node, pod
from tests.support.engine_driver import Driver


def test_a_tree_that_fits_only_with_nodes_by_name_is_described_with_nodes_in_turn():
    """The first pod goes to the node that the second needs, unless the other node comes first."""
    first, second = (gang(name, 1, parent_composite_pod_group_name="root") for name in ("g1", "g2"))
    needs = pod("p2", cpu="2", group="g2", node_selector={"is": "b"})
    there = [node("b", cpu="2", labels={"is": "b"}), node("a", cpu="2")]
    tree = [composite("root", 2), first, second, pod("p1", cpu="2", group="g1"), needs]
    known = Driver(*there, *tree).engine._knowledge
    top = root_of(known.groups, GroupKey(NAMESPACE, "root", is_composite=True)).top
    assert fare(known.state, top).fits == 1
    known.state.turn = 1
    assert fare(known.state, top).fits == 2
    assert known.state.turn == 1
