"""Single pods of many classes that follow one another in one turn go where turns of their own would put them."""

from contextlib import ExitStack
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.cycle import pod_turn
from posse.engine.cycle.pod_turn import PodTurns
from posse.engine.queue.backlog import Backlog
from posse.engine.state.node_scores import NodeScores
from posse.model.meta import LabelSelector
from posse.model.placement import TopologySpreadConstraint
from tests.support.builders import changed, gang, node, pod, taint
from tests.support.effort import up_to
from tests.support.engine_driver import Driver, evicted, placements, pod_reports

STEPS = 90
"""Two pods of the heavy class take almost as many; all other pods of an example together take fewer."""
COST = 31
"""Steps of a pod whose node is compared with others: of the heavy class, or of any while a node is tainted."""
LABELS = {f"label-{number}": "heavy" for number in range(30)}
HEAVY = tuple(
    TopologySpreadConstraint(
        max_skew=50,
        topology_key="kubernetes.io/hostname",
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels={key: value}),
    )
    for key, value in LABELS.items()
)

machines = st.lists(
    st.tuples(st.sampled_from(["1", "2", "4"]), st.sampled_from(["2Gi", "8Gi"])), min_size=1, max_size=5
)
plain = st.tuples(
    st.just("plain"),
    st.integers(1, 3),
    st.integers(0, 2),
    st.sampled_from(["100m", "200m", "300m", "700m", "1500m", "8"]),
)
heavy = st.tuples(st.just("heavy"), st.integers(1, 4), st.integers(0, 2), st.just("50m"))
gangs = st.tuples(st.just("gang"), st.integers(1, 3), st.integers(0, 2), st.sampled_from(["100m", "1"]))
bursts = st.lists(
    st.tuples(
        st.lists(st.one_of(plain, plain, plain, plain, heavy, gangs), min_size=1, max_size=7),
        st.sampled_from([0.0, 0.5, 2.0, 400.0]),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


def cluster_of(described, *, tainted=False):
    """Return the nodes; a taint of the first makes the scores of nodes depend on each other."""
    return [
        node(
            f"n{index}",
            cpu=cpu,
            memory=memory,
            labels={"kubernetes.io/hostname": f"n{index}"},
            taints=[taint("full", "PreferNoSchedule")] if tainted and not index else (),
        )
        for index, (cpu, memory) in enumerate(described)
    ]


def submitted(burst, drawn):
    """Return the objects of one burst, in the order in which they come."""
    objects = []
    for index, (kind, count, priority, cpu) in enumerate(drawn):
        name = f"{kind}-{burst}-{index}"
        spec = {"cpu": cpu, "priority": priority}
        if kind == "gang":
            objects.append(gang(name, count, priority=priority))
            spec["group"] = name
        elif kind == "heavy":
            spec["topology_spread_constraints"] = HEAVY
        made = [pod(f"{name}-{ordinal}", **spec) for ordinal in range(count)]
        objects += [changed(one, metadata={"labels": LABELS if kind == "heavy" else {}}) for one in made]
    return objects


def one_run(self, head, most, runs, cycle):
    return self._take_run_alone(head, most, cycle), 1


def is_equal(self, entry, head, scheduling_class):
    """Say whether two entries are pods that nothing tells apart."""
    pods = self._knowledge.pods
    if entry.key not in pods:
        return False
    first, second = pods[head.key], pods[entry.key]
    return (
        (first.priority, first.nominated, second.nominated) == (second.priority, "", "")
        and self._knowledge.state.scheduling_class(first) == scheduling_class
        and self._knowledge.state.scheduling_class(second) == scheduling_class
    )


def story(described, drawn, *, one_by_one):
    """Return all decisions, where the next pod would start to look for a node, and the turns that were taken."""
    with ExitStack() as patches:
        patches.enter_context(patch.object(pod_turn, "FIRST_STEPS", STEPS))
        cost = property(lambda scores: 1 if scores.is_row_local else COST)
        patches.enter_context(patch.object(NodeScores, "cost", cost))
        if one_by_one:
            patches.enter_context(patch.object(PodTurns, "_goes_along", is_equal))
        take = one_run if one_by_one else PodTurns.take
        turns = patches.enter_context(patch.object(PodTurns, "take", autospec=True, side_effect=take))
        driver, told = Driver(*cluster_of(described)), []
        for burst, (runs, pause, confirms, tainted) in enumerate(drawn):
            objects = submitted(burst, runs)
            driver.see(*cluster_of(described, tainted=tainted), *objects)
            decisions = driver.decide(after=pause)
            told.append((decisions, driver.engine._knowledge.state.turn, driver.engine.next_wakeup()))
            where = placements(decisions) if confirms else {}
            for one in objects:
                if one.metadata.name in where:
                    driver.confirm(one, on=where[one.metadata.name])
        return told, turns.call_count


@settings(max_examples=up_to(300))
@given(machines, bursts)
def test_one_turn_for_many_classes_decides_as_a_turn_for_each(described, drawn):
    together, _ = story(described, drawn, one_by_one=False)
    one_by_one, _ = story(described, drawn, one_by_one=True)
    assert together == one_by_one


def test_the_turns_are_fewer_around_a_paused_class_a_gang_and_a_run_that_fails():
    mixed = [
        ("plain", 2, 2, "100m"),
        ("plain", 1, 2, "200m"),
        ("gang", 2, 1, "100m"),
        ("plain", 1, 1, "300m"),
        ("plain", 2, 1, "8"),
        ("plain", 1, 1, "100m"),
        ("plain", 1, 1, "200m"),
        ("heavy", 4, 0, "50m"),
        ("plain", 1, 0, "300m"),
        ("plain", 1, 0, "100m"),
    ]
    drawn = [(mixed, 0.0, True, False), (mixed, 0.1, True, False)]
    with patch.object(Backlog, "postpone", autospec=True, side_effect=Backlog.postpone) as postponed:
        together, turns = story([("4", "8Gi")] * 4, drawn, one_by_one=False)
        assert postponed.called
    one_by_one, most_turns = story([("4", "8Gi")] * 4, drawn, one_by_one=True)
    assert together == one_by_one
    assert turns < most_turns - 6
    assert list(pod_reports(together[0][0])) == ["plain-0-4-0", "plain-0-4-1"]
    assert len(placements(together[1][0])) > 8


def test_a_class_that_pauses_is_left_out_of_the_turn_even_if_nothing_else_sets_it_apart():
    paused, other = ("plain", 3, 0, "100m"), ("plain", 1, 1, "200m")
    drawn = [([paused], 0.0, True, True), ([other, paused, other], 0.1, True, False)]
    with patch.object(Backlog, "postpone", autospec=True, side_effect=Backlog.postpone) as postponed:
        together, _ = story([("4", "8Gi")] * 2, drawn, one_by_one=False)
        assert postponed.called
    assert list(placements(together[1][0])) == ["plain-1-0-0", "plain-1-2-0"]
    assert together == story([("4", "8Gi")] * 2, drawn, one_by_one=True)[0]


def test_pods_of_one_class_and_different_priorities_are_different_runs():
    """Capacity that a preemptor waits for is reserved against its own priority, but not against a higher one."""
    drawn = [
        ([("plain", 1, 0, "1500m")], 0.0, True, False),
        ([("plain", 1, 1, "3")], 0.0, True, False),
        ([("plain", 1, 1, "1"), ("plain", 1, 2, "1")], 0.0, True, False),
    ]
    together, _ = story([("4", "8Gi")], drawn, one_by_one=False)
    assert evicted(together[1][0])
    assert list(placements(together[2][0])) == ["plain-2-1-0"]
    assert together == story([("4", "8Gi")], drawn, one_by_one=True)[0]
