import pytest

from posse.engine.keys import GroupKey
from posse.engine.placement.gang.member_pass import Feasibility, PassProgress, describing_pass
from posse.engine.placement.search.fill import classes_of
from posse.engine.state.draft import Draft
from tests.support.builders import NAMESPACE, gang, node, pod
from tests.support.engine_driver import Driver


@pytest.mark.parametrize(
    ("placed", "untried", "resolvable", "expected"),
    [
        (4, 0, 0, Feasibility.SUCCESS),
        (5, 3, 2, Feasibility.SUCCESS),
        (3, 1, 0, Feasibility.WAIT),
        (0, 4, 0, Feasibility.WAIT),
        (3, 0, 1, Feasibility.UNSCHEDULABLE),
        (1, 1, 2, Feasibility.UNSCHEDULABLE),
        (3, 0, 0, Feasibility.UNRESOLVABLE),
        (0, 2, 1, Feasibility.UNRESOLVABLE),
    ],
)
def test_the_four_answers_for_a_minimum_of_four(placed, untried, resolvable, expected):
    assert PassProgress(4, placed, untried, resolvable).feasibility is expected


def test_a_gang_that_fits_only_with_nodes_by_name_is_described_with_nodes_in_turn():
    """The first pod goes to the node that the second needs, unless the other node comes first."""
    there = [node("b", cpu="2", labels={"is": "b"}), node("a", cpu="2")]
    members = [pod("p1", cpu="2", group="g1"), pod("p2", cpu="2", group="g1", node_selector={"is": "b"})]
    known = Driver(*there, gang(minimum=2), *members).engine._knowledge
    group = known.groups.get(GroupKey(NAMESPACE, "g1"))
    classes = classes_of(known.state, group.unattached())
    draft = Draft(known.state)
    assert describing_pass(known.state, draft, group, classes).placed == 1
    assert not draft.placed()
