"""Trees with topology keys: each group stays inside one domain of its key, inside of its parent's, and no pod is stranded."""

import pytest

from posse.engine.decisions import Evict, ReportGroup
from tests.support.builders import changed, composite, gang, node, one_domain, pod
from tests.support.engine_driver import Driver, group_reports, pod_reports


def child(name, minimum, parent="root", **spec):
    return gang(name, minimum, parent_composite_pod_group_name=parent, **spec)


def inner(name, minimum=None, parent="root", **spec):
    return composite(name, minimum, parent_composite_pod_group_name=parent, **spec)


def members(group, count, cpu="1", **spec):
    return [pod(f"{group}-{index}", cpu=cpu, group=group, **spec) for index in range(count)]


def rack(block, name, cpu):
    return node(f"{block}-{name}", cpu=str(cpu), labels={"block": block, "rack": f"{block}-{name}"})


def places(bound):
    found = {}
    for name, where in bound.items():
        found.setdefault(name.partition("-")[0], set()).add(where)
    return found


@pytest.mark.parametrize("order", [("five", "six"), ("six", "five")])
@pytest.mark.parametrize("racks", [(5, 6), (6, 5)])
def test_no_group_is_stranded_by_one_that_came_before_it(order, racks):
    sizes = {"five": 5, "six": 6}
    driver = Driver(*(rack("a", f"r{number}", cpu) for number, cpu in enumerate(racks)))
    driver.see(composite("root", 2, **one_domain("block")))
    for age, name in enumerate(order):
        created = f"2026-01-01T00:00:0{age}Z"
        made = child(name, sizes[name], **one_domain("rack"))
        driver.see(made, *members(name, sizes[name], created=created))
    bound = places(driver.bind())
    assert {name: len(where) for name, where in bound.items()} == {"five": 1, "six": 1}
    assert bound["five"] != bound["six"]


def test_a_group_is_moved_to_another_domain_where_the_best_one_strands_its_sibling():
    # The rack that the first would fill best is the only one that takes the second, whose pods are large.
    driver = Driver(
        node("small", cpu="4", labels={"rack": "r1"}),
        *(node(f"half-{i}", cpu="2", labels={"rack": "r2"}) for i in range(2)),
        pod("there", cpu="100m", on="small"),
        composite("root", 2),
        child("any", 3, **one_domain("rack")),
        child("large", 1, **one_domain("rack")),
    )
    driver.see(*members("any", 3), *members("large", 1, cpu="3"))
    bound = places(driver.bind())
    assert bound == {"any": {"half-0", "half-1"}, "large": {"small"}}


def test_the_example_of_the_documents():
    driver = Driver(rack("a", "1", 3), rack("a", "2", 5), rack("b", "1", 5), rack("b", "2", 5))
    driver.see(composite("root", 2, **one_domain("block")))
    for name in ("first", "second"):
        driver.see(child(name, 5, **one_domain("rack")), *members(name, 5))
    bound = places(driver.bind())
    assert sorted(where for nodes in bound.values() for where in nodes) == ["b-1", "b-2"]


def test_a_domain_that_holds_all_is_preferred_to_one_that_holds_the_minimum():
    driver = Driver(rack("a", "1", 2), rack("b", "1", 4))
    driver.see(composite("root", 1, **one_domain("block")))
    for name in ("first", "second"):
        driver.see(child(name, 2), *members(name, 2))
    assert places(driver.bind()) == {"first": {"b-1"}, "second": {"b-1"}}


def test_who_comes_later_stays_in_the_domain_of_the_tree():
    driver = Driver(rack("a", "1", 3), rack("b", "1", 2))
    driver.see(composite("root", **one_domain("block")), child("first", 1))
    first = members("first", 1, cpu="2")
    driver.see(*first)
    assert driver.bind_and_confirm(*first) == {"first-0": "b-1"}
    driver.see(child("second", 2), *members("second", 2))
    assert driver.bind() == {}
    driver.see(rack("b", "2", 2))
    assert set(driver.bind(after=20).values()) == {"b-2"}


def test_groups_that_join_a_tree_whose_node_has_vanished_share_one_domain():
    driver = Driver(rack("a", "1", 1), rack("b", "1", 1))
    driver.see(composite("root", 1, **one_domain("block")), child("first", 1), child("b", 1), child("c", 1))
    driver.see(pod("first-0", cpu="1", group="first", on="vanished"), *members("b", 1), *members("c", 1))
    assert list(driver.bind()) == ["b-0"]


def test_more_pods_of_a_group_whose_node_has_vanished_share_one_domain():
    driver = Driver(rack("a", "1", 1), rack("b", "1", 1))
    driver.see(composite("root", 1), child("g", 1, **one_domain("rack")))
    driver.see(pod("there", cpu="1", group="g", on="vanished"), *members("g", 2))
    assert list(driver.bind()) == ["g-0"]


def test_more_of_an_inner_group_whose_node_has_vanished_share_one_domain():
    driver = Driver(rack("a", "1", 1), rack("a", "2", 1))
    driver.see(composite("root", 1, **one_domain("block")), inner("in", 1, **one_domain("rack")))
    driver.see(child("first", 1, "in"), child("b", 1, "in"), child("c", 1, "in"))
    driver.see(pod("first-0", cpu="1", group="first", on="vanished"), *members("b", 1), *members("c", 1))
    assert list(driver.bind()) == ["b-0"]


def test_a_domain_in_which_nobody_fits_is_passed_over_for_one_in_which_somebody_does():
    driver = Driver(rack("a", "1", 1), rack("b", "1", 1), pod("other", cpu="1", on="a-1"))
    driver.see(composite("root", 1, **one_domain("block")), child("first", 1), child("b", 1))
    driver.see(pod("first-0", cpu="1", group="first", on="vanished"), *members("b", 1))
    assert driver.bind() == {"b-0": "b-1"}


def test_pods_that_run_in_two_domains_are_an_error_of_the_tree():
    driver = Driver(rack("a", "1", 2), rack("b", "1", 2))
    driver.see(composite("root", **one_domain("block")), child("g", 1))
    driver.see(pod("g-0", cpu="1", group="g", on="a-1"), pod("g-1", cpu="1", group="g", on="b-1"))
    driver.see(pod("g-2", cpu="1", group="g"))
    assert pod_reports(driver.decide()) == {
        "g-2": ("SchedulerError", "more than 1 domain found for pod group: a, b.")
    }


def test_what_is_lacking_is_told_for_the_domain_that_comes_closest():
    driver = Driver(rack("a", "1", 2), rack("b", "1", 3))
    driver.see(composite("root", 2, **one_domain("block")))
    for name in ("first", "second"):
        driver.see(child(name, 2), *members(name, 2))
    told = {name: message for name, _, _, message in group_reports(driver.decide())}
    assert told["root"].startswith(
        "0/2 placements are available: in the best block, b, only 1 of the 2 groups that must start together fit; "
        "pod group second: only 1 of the 2 pods"
    )


def evicted_for_a_tree_in_one_rack(*objects):
    """Return who makes way for a group of one small pod and one with a pod of three cores."""
    driver = Driver(*objects, composite("root", 2, priority=5, **one_domain("rack")))
    driver.see(child("small", 1, priority=5), *members("small", 1, priority=5))
    driver.see(child("large", 1, priority=5), *members("large", 1, cpu="3", priority=5))
    return [d.pod.name for d in driver.decide() if isinstance(d, Evict)]


def test_victims_are_sought_though_the_closest_domain_is_hopeless():
    assert evicted_for_a_tree_in_one_rack(
        rack("a", "small", 2), rack("a", "large", 4), pod("low", cpu="4", on="a-large")
    ) == ["low"]


def test_victims_are_sought_in_domains_beyond_those_that_are_compared():
    hopeless = [rack("a", f"small{number}", 2) for number in range(12)]
    full = [rack("a", "large", 4), pod("low", cpu="4", on="a-large")]
    assert evicted_for_a_tree_in_one_rack(*hopeless, *full) == ["low"]


def test_victims_are_sought_for_an_inner_group_of_a_tree_that_runs():
    driver = Driver(rack("a", "small", 2), rack("a", "large", 4), rack("b", "1", 1))
    driver.see(pod("low", cpu="4", on="a-large"), composite("root", 1, priority=5))
    driver.see(child("first", 1, priority=5), pod("first-0", cpu="1", group="first", on="b-1", priority=5))
    driver.see(inner("in", 2, priority=5, **one_domain("rack")))
    for name, cpu in (("small", "1"), ("large", "3")):
        driver.see(child(name, 1, "in", priority=5), *members(name, 1, cpu=cpu, priority=5))
    assert [d.pod.name for d in driver.decide() if isinstance(d, Evict)] == ["low"]


def test_nobody_is_evicted_for_a_tree_that_no_domain_could_hold():
    full = [rack("a", "1", 2), rack("b", "1", 2), pod("low", cpu="2", on="a-1")]
    assert evicted_for_a_tree_in_one_rack(*full) == []


def test_victims_are_sought_inside_of_the_domains():
    driver = Driver(rack("a", "1", 2), rack("b", "1", 2), pod("low", cpu="2", on="a-1"))
    driver.see(pod("top", cpu="1", on="b-1", priority=99))
    driver.see(composite("root", 2, priority=5, **one_domain("block")))
    for name in ("first", "second"):
        driver.see(child(name, 1, priority=5), *members(name, 1, priority=5))
    decisions = driver.decide()
    assert [d.pod.name for d in decisions if isinstance(d, Evict)] == ["low"]
    driver.lose(pod("low", cpu="2", on="a-1"))
    assert set(driver.bind().values()) == {"a-1"}


def scaled_up(*further):
    """Return what is told about a tree that runs in one block of two, and fills it, as something new comes to it."""
    driver = Driver(*(rack(block, f"r{number}", 4) for block in "ab" for number in range(2)))
    driver.see(composite("root", 1, **one_domain("block")), child("w", 4, **one_domain("rack")))
    driver.see(child("x", 4, **one_domain("rack")))
    driver.see(*(changed(one, spec={"node_name": "a-r0"}) for one in members("w", 4)))
    driver.see(*(changed(one, spec={"node_name": "a-r1"}) for one in members("x", 4)))
    driver.decide()
    driver.see(*further)
    return {one.group.name: one for one in driver.decide() if isinstance(one, ReportGroup)}


def test_a_group_that_finds_no_place_beside_its_siblings_is_told_where_they_hold_it_and_that_it_is_certain():
    told = scaled_up(child("y", 4, **one_domain("rack")), *members("y", 4))["y"]
    assert told.message.endswith(
        "It must be in block a, where others of composite pod group root run. "
        "Proven: it cannot fit in the currently free capacity."
    )
    assert told.finding.outcome == "ProvenInfeasible"


def test_so_is_a_group_of_groups_and_what_is_below_it():
    told = scaled_up(inner("mid", 1), child("y", 4, parent="mid"), *members("y", 4))
    assert "It must be in block a" in told["mid"].message
    assert told["mid"].finding.outcome == "ProvenInfeasible"
    assert told["y"].message
