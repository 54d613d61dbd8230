"""Single pods of many classes that follow one another in one turn go where turns of their own would put them."""

from contextlib import ExitStack
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.cycle import pod_turn
from posse.engine.cycle.pod_turn import PodTurns
from posse.engine.queue.backlog import Backlog
from posse.model.meta import LabelSelector
from posse.model.placement import TopologySpreadConstraint
from tests.support.builders import changed, gang, node, pod
from tests.support.effort import up_to
from tests.support.engine_driver import Driver, placements, pod_reports

STEPS = 90
"""Two pods of the heavy class take almost as many; all other pods of an example together take fewer."""
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
    ),
    min_size=1,
    max_size=4,
)


def cluster_of(described):
    names = [f"n{index}" for index in range(len(described))]
    return [
        node(name, cpu=cpu, memory=memory, labels={"kubernetes.io/hostname": name})
        for name, (cpu, memory) in zip(names, described, strict=True)
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


def story(described, drawn, *, one_by_one):
    """Return all decisions, where the next pod would start to look for a node, and the turns that were taken."""
    with ExitStack() as patches:
        patches.enter_context(patch.object(pod_turn, "FIRST_STEPS", STEPS))
        take = one_run if one_by_one else PodTurns.take
        turns = patches.enter_context(patch.object(PodTurns, "take", autospec=True, side_effect=take))
        driver, told = Driver(*cluster_of(described)), []
        for burst, (runs, pause, confirms) in enumerate(drawn):
            objects = submitted(burst, runs)
            driver.see(*objects)
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
    drawn = [(mixed, 0.0, True), (mixed, 0.1, True)]
    with patch.object(Backlog, "postpone", autospec=True, side_effect=Backlog.postpone) as postponed:
        together, turns = story([("4", "8Gi")] * 4, drawn, one_by_one=False)
        assert postponed.called
    one_by_one, most_turns = story([("4", "8Gi")] * 4, drawn, one_by_one=True)
    assert together == one_by_one
    assert turns < most_turns - 6
    assert list(pod_reports(together[0][0])) == ["plain-0-4-0", "plain-0-4-1"]
    assert len(placements(together[1][0])) > 8
