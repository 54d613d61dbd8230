"""Groups that are alike and follow one another go exactly where they would have gone one by one."""

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.cycle import group_turn
from posse.model.pod import PodSchedulingGroup
from tests.differential.strategies import NODE_NAMES, sized_pods
from tests.differential.strategies_pods import sociable_pods
from tests.support.builders import NAMESPACE, changed, gang, node, nodes, one_domain, pod
from tests.support.effort import up_to
from tests.support.engine_driver import Driver, binds, group_reports

cluster = st.lists(
    st.tuples(
        st.sampled_from(["r1", "r2", "r3", None]),
        st.sampled_from(["1", "2", "8"]),
        st.sampled_from(["2Gi", "16Gi"]),
    ),
    min_size=1,
    max_size=len(NODE_NAMES),
).map(lambda drawn: [racked(NODE_NAMES[index], *one) for index, one in enumerate(drawn)])
there = st.lists(st.tuples(sized_pods(), st.sampled_from(NODE_NAMES), st.integers(0, 1)), max_size=5)
runs = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.one_of(sized_pods(), sized_pods(), sociable_pods()),
            "groups": st.integers(1, 5),
            "size": st.integers(1, 3),
            "lacking": st.integers(0, 1),
            "in_rack": st.booleans(),
            "priority": st.integers(0, 1),
        }
    ),
    min_size=1,
    max_size=4,
)


def racked(name, rack, cpu, memory):
    labels = {"zone": "east", "kubernetes.io/hostname": name} | ({"rack": rack} if rack is not None else {})
    return node(name, cpu=cpu, memory=memory, labels=labels)


def named(one, name, **spec):
    return changed(one, metadata={"name": name, "uid": name, "namespace": NAMESPACE}, spec=spec)


def submitted(drawn):
    for number, run in enumerate(drawn):
        for index in range(run["groups"]):
            name = f"g{number}-{index}"
            minimum = max(1, run["size"] - run["lacking"])
            yield gang(name, minimum, priority=run["priority"], **(one_domain() if run["in_rack"] else {}))
            for ordinal in range(run["size"]):
                membership = PodSchedulingGroup(pod_group_name=name)
                yield named(
                    run["kind"],
                    f"{name}-{ordinal}",
                    scheduling_group=membership,
                    priority=run["priority"],
                )


def decided(objects, *, one_by_one):
    driver = Driver(*objects)
    if not one_by_one:
        return driver.decide(), driver.engine._knowledge.state.turn
    with patch.object(group_turn, "shape_of", lambda *_: None):
        return driver.decide(), driver.engine._knowledge.state.turn


@settings(max_examples=up_to(300))
@given(cluster, there, runs)
def test_following_gives_what_one_by_one_gives(machines, neighbours, drawn):
    running = [
        named(one, f"there-{index}", node_name=where, priority=priority)
        for index, (one, where, priority) in enumerate(neighbours)
    ]
    objects = [*machines, *running, *submitted(drawn)]
    assert decided(objects, one_by_one=False) == decided(objects, one_by_one=True)


def test_a_long_run_of_equal_gangs_is_placed_in_few_steps():
    gangs = [
        obj
        for index in range(40)
        for obj in (
            gang(f"g{index}", 2),
            *(pod(f"g{index}-{ordinal}", "1", group=f"g{index}") for ordinal in range(2)),
        )
    ]
    driver = Driver(*nodes(20, cpu="4"), *gangs)
    with patch.object(group_turn, "place_identical", wraps=group_turn.place_identical) as following:
        decisions = driver.decide()
    assert [len(bind.placements) for bind in binds(decisions)] == [2] * 40
    assert [report[1] for report in group_reports(decisions)] == [True] * 40
    assert [len(call.args[2]) for call in following.call_args_list] == [39]


def test_who_has_no_room_left_behind_the_others_is_told_so_alone():
    gangs = [
        obj
        for index in range(3)
        for obj in (
            gang(f"g{index}", 2, **one_domain()),
            *(pod(f"g{index}-{ordinal}", "1", group=f"g{index}") for ordinal in range(2)),
        )
    ]
    driver = Driver(*(racked(f"n{index}", f"r{index}", "2", "8Gi") for index in (1, 2)), *gangs)
    decisions = driver.decide()
    racks = [{placed.node for placed in bind.placements} for bind in binds(decisions)]
    assert racks == [{"n1"}, {"n2"}]
    assert [report[:3] for report in group_reports(decisions)] == [
        ("g0", True, "Scheduled"),
        ("g1", True, "Scheduled"),
        ("g2", False, "Unschedulable"),
    ]
