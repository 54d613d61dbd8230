"""An explanation is what the next decision does, and asking for one makes no difference to it."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.explain.group_status import State
from posse.engine.keys import GroupKey
from posse.model.pod import PodSchedulingGroup
from tests.differential.strategies import clusters, neighbours, pod_named, pods, sized_pods
from tests.support.builders import NAMESPACE, changed, gang
from tests.support.engine_driver import Driver, placements

KEY = GroupKey(NAMESPACE, "g1")


def members(kinds):
    membership = PodSchedulingGroup(pod_group_name=KEY.name)
    return [
        changed(pod_named(kind, f"kind-{index}-{number}"), spec={"scheduling_group": membership})
        for index, (kind, count) in enumerate(kinds)
        for number in range(count)
    ]


gangs = st.lists(st.tuples(st.one_of(sized_pods(), pods()), st.integers(1, 4)), min_size=1, max_size=3)


@given(clusters(), neighbours(), gangs, st.integers(1, 8))
def test_a_group_is_told_what_the_next_decision_does(nodes, there, kinds, minimum):
    others = [changed(neighbour, spec={"node_name": name}) for neighbour, name in there]
    objects = [*nodes, *others, gang(minimum=minimum), *members(kinds)]
    asked, unasked = Driver(*objects), Driver(*objects)
    explanation = asked.engine.explain(KEY)
    decisions = asked.decide()
    assert decisions == unasked.decide()
    now, places = explanation.situation, list(placements(decisions).values())
    assert dict(now.placement) == {node: places.count(node) for node in places}
    assert (now.state is State.FITS) == bool(places)


@given(clusters(), neighbours(), st.one_of(sized_pods(), pods()), st.integers(0, 9))
def test_a_pod_is_told_what_the_next_decision_does(nodes, there, kind, priority):
    others = [changed(neighbour, spec={"node_name": name}) for neighbour, name in there]
    one = changed(pod_named(kind, "one"), spec={"priority": priority})
    asked, unasked = Driver(*nodes, *others, one), Driver(*nodes, *others, one)
    explanation = asked.engine.explain_pod(one.metadata.uid)
    decisions = asked.decide()
    assert decisions == unasked.decide()
    assert explanation.target == placements(decisions).get("one", "")
    assert (explanation.obstacle is None) == bool(explanation.target)
