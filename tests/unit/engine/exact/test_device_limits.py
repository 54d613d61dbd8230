"""Devices in the problems of the exact search: which pods find devices together on a node."""

from posse.engine.decisions import Solve
from posse.engine.events import Solved
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.proof import Outcome
from posse.engine.reporting.remedy_messages import remedy_texts
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.solver.remedies import remedies
from posse.solver.solving import solve
from tests.support.builders import NAMESPACE, gang, node, nodes
from tests.support.device_objects import (
    allocations,
    device,
    device_class,
    exact,
    pod_with_own,
    resource_slice,
)
from tests.support.engine_driver import Driver, group_reports, placements

BIG = 'device.attributes["dra.example.com"].big'
TWO_SORTS = [device("b1", attributes={"big": True}), device("s1", attributes={"big": False})]


def asking(*objects):
    return Driver(*objects, options=EngineOptions({"default-scheduler": DEFAULT_PROFILE}, asks=True))


def answered(driver, decisions):
    """Answer every question, and return what the engine decides in the end."""
    while questions := [one for one in decisions if isinstance(one, Solve)]:
        for asked in questions:
            driver.engine.absorb(Solved(asked.group, asked.number, solve(asked.problem, asked.effort)))
        decisions = driver.decide()
    return decisions


def members(*sorts):
    """Members that want a big device, or two of any kind, and their claims."""
    asks = {"big": exact("req", 1, BIG), "any": exact("req", 1), "two": exact("req", 2)}
    made = [pod_with_own(f"p{i}", (asks[sort],), cpu="1", group="g1") for i, sort in enumerate(sorts)]
    return [obj for one, claims in made for obj in (*claims, one)]


def test_a_problem_lists_the_mixes_of_pods_that_find_devices_on_a_node():
    cluster = [*nodes(2), device_class(), resource_slice("n1", TWO_SORTS), resource_slice("n2", TWO_SORTS)]
    driver = asking(*cluster, gang(minimum=4), *members("two", "big", "big", "any"))
    [asked] = [one for one in driver.decide() if isinstance(one, Solve)]
    # Two devices at once, or a big one and any other.
    assert sorted(asked.problem.mixes[0]) == [(0, 1, 1), (1, 0, 0)]
    assert asked.problem.mix_of == (0, 0)
    assert solve(asked.problem, asked.effort).outcome is Outcome.IMPOSSIBLE


def test_a_refusal_for_want_of_devices_is_a_proof():
    cluster = [*nodes(2), device_class(), resource_slice("n1", TWO_SORTS), resource_slice("n2", TWO_SORTS)]
    driver = asking(*cluster, gang(minimum=4), *members("two", "big", "big", "any"))
    [(_, scheduled, _, message)] = group_reports(answered(driver, driver.decide()))
    assert not scheduled
    assert "Proven" in message


def test_a_plan_of_the_exact_search_gets_its_devices():
    """Members that fit only in one way over many nodes, each with another mix of devices."""
    cluster = [node(f"n{i}", cpu="2") for i in range(6)]
    slices = [resource_slice(f"n{i}", TWO_SORTS if i % 2 else 2) for i in range(6)]
    plain = [
        resource_slice(f"n{i}", [device(f"d{j}", attributes={"big": False}) for j in range(2)])
        for i in (0, 2, 4)
    ]
    objects = [*cluster, device_class(), *slices, *plain]
    driver = asking(*objects, gang(minimum=9), *members(*["any"] * 3, *["two"] * 3, *["big"] * 3))
    decisions = answered(driver, driver.decide())
    assert len(placements(decisions)) == 9
    given = [one for devices in allocations(decisions).values() for one in devices]
    assert len(given) == len(set(given)) == 12


def remedies_for(*objects):
    problem = Driver(*objects).engine.explain(GroupKey(NAMESPACE, "g1")).remedy_problem
    return remedy_texts(remedies(problem), problem.demands)


def test_nodes_with_devices_and_a_smaller_minimum_are_advised():
    cluster = [*nodes(2), device_class(), resource_slice("n1", 2), resource_slice("n2", 1)]
    assert remedies_for(*cluster, gang(minimum=5), *members(*["any"] * 5)) == [
        "1 more node like n1",
        "2 more nodes like n2",
        "a minCount of 3 instead of 5",
    ]


def test_a_node_without_devices_is_not_advised_and_what_mixes_allow_is():
    cluster = [*nodes(2), device_class(), resource_slice("n1", TWO_SORTS)]
    assert remedies_for(*cluster, gang(minimum=3), *members("big", "big", "any")) == [
        "1 more node like n1",
        "a minCount of 2 instead of 3",
    ]
