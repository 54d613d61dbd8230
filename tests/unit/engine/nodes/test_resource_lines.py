"""Lines of resource names last as long as something needs the name; then they are reused or given up."""

import numpy as np

from posse.engine.nodes.node_table import PriorityUsage, load_of
from posse.engine.nodes.resources import FIXED_RESOURCES
from tests.support.builders import node, pod
from tests.support.engine_driver import Driver, pod_reports
from tests.support.engine_parts import table_of

PODS, NAMES = 100, 20


def names_of(number):
    return [f"example.com/r{number}-{index}" for index in range(NAMES)]


def come_and_go(table, rounds=PODS):
    for number in range(rounds):
        table.release_resources(table.hold_resources(names_of(number)))


def test_names_that_come_and_go_do_not_widen_the_table():
    table = table_of(node("a"))
    come_and_go(table)
    assert len(table.resource_names) < 10 * NAMES
    assert table.allocatable.shape == table.requested.shape == (len(table.resource_names), table.alive.size)


def test_lines_are_given_up_once_many_names_have_gone_at_once():
    table = table_of(node("a"))
    held = [table.hold_resources(names_of(number)) for number in range(PODS)]
    assert len(table.resource_names) == len(FIXED_RESOURCES) + PODS * NAMES
    for indexes in held:
        table.release_resources(indexes)
    assert len(table.resource_names) < 10 * NAMES
    assert table.allocatable.base.shape[0] < 30 * NAMES


def test_looking_for_lines_to_give_up_does_not_read_all_lines():
    """Nor does a name in the last line make that dearer, which keeps all before it."""
    table = table_of(node("a"))
    held = [table.hold_resources(names_of(number)) for number in range(PODS)]
    for indexes in held[:-1]:
        table.release_resources(indexes)
    read = []
    look = table.resources.due_for_review
    table.resources.due_for_review = lambda: read.append(look()) or read[-1]
    come_and_go(table)
    assert max(map(len, read)) < 10 * NAMES


def test_a_name_that_is_needed_keeps_its_line():
    table = table_of(node("a", **{"example.com/offered": 8}))
    [held] = table.hold_resources(["example.com/held"])
    kept = table.resource("example.com/configured")
    [used] = table.hold_resources(["example.com/used"])
    table.change_usage(np.array([0]), load_of([(used, 3)], (0, 0)), 1)
    table.release_resources([used])
    offered = table.resource_index["example.com/offered"]
    come_and_go(table)
    assert table.hold_resources(["example.com/held"]) == [held]
    assert table.resource("example.com/configured") == kept
    assert table.resource_index["example.com/used"] == used
    assert table.resource_index["example.com/offered"] == offered
    assert (table.allocatable[offered, 0], table.requested[used, 0]) == (8, 3)


def test_a_line_is_reused_once_no_node_offers_the_resource():
    table = table_of(node("a", **{"example.com/offered": 8}))
    table.put(node("a"))
    come_and_go(table)
    assert "example.com/offered" not in table.resource_index
    assert not table.allocatable[len(FIXED_RESOURCES) :].any()


def test_usage_by_priority_follows_lines_that_come_and_go():
    table = table_of(node("a"))
    usage = PriorityUsage(table)
    held = [table.hold_resources(names_of(number)) for number in range(PODS)]
    load = load_of([(0, 500), (table.resource("pods"), 1)], (500, 0))
    usage.add(0, np.array([0]), load, np.array([1]))
    for indexes in held:
        table.release_resources(indexes)
    assert usage.requested(0).shape == table.requested.shape
    assert usage.above(-1)[0, 0] == 500


def hungry(number):
    return pod(f"p{number}", requests=dict.fromkeys(names_of(number), "1"))


def test_pods_with_ever_new_resource_names_leave_nothing_behind():
    driver = Driver(node("a"))
    for number in range(PODS):
        driver.see(hungry(number))
        driver.decide()
        driver.lose(hungry(number))
    table = driver.engine._knowledge.state.nodes
    assert len(table.resource_names) < 10 * NAMES


def test_what_is_decided_is_right_when_lines_are_reused():
    driver = Driver(node("a", **{"example.com/gpu": 2}))
    staying = pod("staying", requests={"example.com/gpu": "1"})
    driver.see(staying)
    assert driver.bind_and_confirm(staying) == {"staying": "a"}
    for number in range(PODS):
        driver.see(hungry(number))
        driver.lose(hungry(number))
    late = pod("late", requests={"example.com/late": "1"})
    driver.see(
        late,
        pod("second", requests={"example.com/gpu": "1"}),
        pod("third", requests={"example.com/gpu": "1"}),
    )
    told = pod_reports(driver.decide())
    assert "Insufficient example.com/late" in told["late"][1]
    assert "Insufficient example.com/gpu" in told["third"][1]
    driver.see(node("b", **{"example.com/late": 1}))
    assert driver.bind() == {"late": "b"}
