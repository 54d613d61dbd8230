"""Whatever is evicted had to be, mattered less, and makes the room that is needed."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.decisions import Evict, ReportPod
from tests.differential import oracle_reference
from tests.differential.strategies_pods import NAMESPACES, objects_of, sociable_pods, worlds
from tests.support.builders import changed
from tests.support.engine_driver import Driver, placements

priorities = st.sampled_from([-5, 0, 0, 10])


@st.composite
def ranked_worlds(draw):
    return [
        (node, [changed(one, spec={"priority": draw(priorities)}) for one in there])
        for node, there in draw(worlds())
    ]


def without(world, uids):
    return [(node, [one for one in there if one.metadata.uid not in uids]) for node, there in world]


def making_way(driver):
    """Return the uids of all that make way, those included that were ending anyway and need not be told."""
    return [uid for uid, record in driver.engine._knowledge.pods.items() if record.evicted_for]


def fits(pod, name, world):
    node = next(node for node, _ in world if node.metadata.name == name)
    return not oracle_reference.refusals(pod, node, world, NAMESPACES)


@given(world=ranked_worlds(), drawn=sociable_pods(), priority=st.sampled_from([5, 100]))
def test_victims_are_few_matter_less_and_make_the_room(world, drawn, priority):
    pod = changed(drawn, spec={"priority": priority})
    driver = Driver(*objects_of(world), pod)
    decisions = driver.decide()
    evictions = [decision for decision in decisions if isinstance(decision, Evict)]
    reports = [decision for decision in decisions if isinstance(decision, ReportPod)]
    if oracle_reference.totals(pod, world, NAMESPACES):
        assert placements(decisions)
        assert evictions == []
        return
    (report,) = reports
    victims = making_way(driver)
    if not victims:
        assert report.nominated_node == ""
        assert evictions == []
        return
    node = report.nominated_node
    there = {one.metadata.uid: one for made, pods in world for one in pods if made.metadata.name == node}
    assert all(eviction.node == node for eviction in evictions)
    assert set(victims) <= set(there)
    staying = [uid for uid in victims if not there[uid].metadata.deletion_timestamp]
    assert sorted(eviction.pod.uid for eviction in evictions) == sorted(staying)
    assert all(there[uid].spec.priority < priority for uid in victims)
    assert fits(pod, node, without(world, victims))
    for spared in victims:
        others = [uid for uid in victims if uid != spared]
        assert not fits(pod, node, without(world, others)), f"{spared} need not go"


@given(world=ranked_worlds(), drawn=sociable_pods())
def test_who_may_not_preempt_evicts_nobody(world, drawn):
    pod = changed(drawn, spec={"priority": 100, "preemption_policy": "Never"})
    decisions = Driver(*objects_of(world), pod).decide()
    assert not any(isinstance(decision, Evict) for decision in decisions)


@given(world=ranked_worlds(), drawn=sociable_pods(), priority=st.sampled_from([5, 100]))
def test_the_pod_starts_on_its_nominated_node_once_the_victims_are_gone(world, drawn, priority):
    pod = changed(drawn, spec={"priority": priority})
    driver = Driver(*objects_of(world), pod)
    reports = [decision for decision in driver.decide() if isinstance(decision, ReportPod)]
    gone = making_way(driver)
    if gone:
        driver.lose(*(one for _, there in world for one in there if one.metadata.uid in gone))
        assert driver.bind(after=1.0) == {pod.metadata.name: reports[0].nominated_node}
