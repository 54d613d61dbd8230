"""Room for groups that must be in one rack: the rack is chosen together with the victims."""

import pytest

from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.meta import LabelSelector, ObjectMeta
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import NAMESPACE, changed, gang, in_rack, one_domain, pod, pods
from tests.support.engine_driver import Driver, evicted, nominated, placements

HIGH = 100


def rack_gang(minimum, **spec):
    return gang(minimum=minimum, priority=HIGH, **one_domain(), **spec)


def urgent(count, **description):
    return pods(count, group="g1", priority=HIGH, **({"cpu": "1"} | description))


def low(name, on, priority=0, **description):
    return pod(name, on=on, priority=priority, **({"cpu": "1"} | description))


def test_room_is_made_in_one_rack_and_held_there():
    racks = [*in_rack("r1", "a", "b", cpu="1"), *in_rack("r2", "c", cpu="1")]
    victims = [low("x", "a"), low("y", "b"), low("z", "c")]
    driver = Driver(*racks, *victims, rack_gang(2), *urgent(2))
    assert evicted(driver.decide()) == ["x", "y"]
    assert sorted(nominated(driver).values()) == ["a", "b"]
    driver.lose(*victims[:2])
    assert sorted(driver.bind().values()) == ["a", "b"]


def test_nobody_is_evicted_if_no_rack_would_do():
    racks = [*in_rack("r1", "a", "b", cpu="1"), *in_rack("r2", "c", "d", cpu="1")]
    there = [low("x", "a"), low("high", "b", HIGH), low("y", "c"), low("higher", "d", HIGH)]
    assert evicted(Driver(*racks, *there, rack_gang(2), *urgent(2)).decide()) == []


def test_the_rack_is_taken_where_the_least_important_suffice():
    """The other one would be the better rack once everybody has gone: it is the smaller."""
    racks = [*in_rack("r1", "a", "b", cpu="1"), *in_rack("r2", "c", "d", "e", cpu="1")]
    there = [low("x", "a", 5), low("y", "b", 5), low("u", "c", 1), low("v", "d", 1), low("w", "e", 9)]
    assert evicted(Driver(*racks, *there, rack_gang(2), *urgent(2)).decide()) == ["u", "v"]


def test_the_rack_is_taken_where_fewer_are_lost():
    racks = [*in_rack("r1", "a", "b", cpu="2"), *in_rack("r2", "c", "d", cpu="2")]
    there = [low("x", "a"), low("y", "a"), low("v", "b"), low("u", "c"), low("w", "d"), low("z", "d")]
    driver = Driver(*racks, *there, low("t", "b"), rack_gang(2), *urgent(2))
    (victim,) = evicted(driver.decide())
    assert victim in {"u", "w", "z"}


def test_the_rack_is_taken_where_no_budget_is_overdrawn():
    racks = [*in_rack("r1", "a", cpu="1"), *in_rack("r2", "b", cpu="1")]
    guarded = changed(low("x", "a"), metadata={"labels": {"app": "db"}})
    budget = PodDisruptionBudget(
        metadata=ObjectMeta(name="db", namespace=NAMESPACE),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "db"})),
        status=PodDisruptionBudgetStatus(disruptions_allowed=0),
    )
    driver = Driver(*racks, budget, guarded, low("y", "b", 50), rack_gang(1), *urgent(1))
    assert evicted(driver.decide()) == ["y"]


def test_the_rack_is_taken_where_fewer_are_lost_though_it_is_the_last_of_many():
    racks = [one for i in range(40) for one in in_rack(f"r{i}", f"n{i:02}", cpu="2")]
    there = [low(f"{half}{i}", f"n{i:02}") for i in range(39) for half in "ab"]
    driver = Driver(*racks, *there, low("one", "n39", cpu="2"), rack_gang(2), *urgent(2))
    assert evicted(driver.decide()) == ["one"]


def test_pods_of_a_group_elsewhere_count_as_lost_with_it():
    racks = [*in_rack("r1", "a", cpu="1"), *in_rack("r2", "b", cpu="1"), *in_rack("", "plain", cpu="1")]
    whole = gang("old", minimum=2, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    together = [low("m1", "a", group="old"), low("m2", "plain", group="old")]
    driver = Driver(*racks, whole, *together, low("x", "b", 0), rack_gang(1), *urgent(1))
    assert evicted(driver.decide()) == ["x"]
    alone = Driver(*racks, whole, *together, low("x", "b", 5), rack_gang(1), *urgent(1))
    assert evicted(alone.decide()) == ["m1", "m2"]


def test_at_equal_cost_the_tighter_rack_is_taken():
    racks = [*in_rack("r1", "a", "b", "c", cpu="2"), *in_rack("r2", "d", "e", cpu="2")]
    there = [low(f"x{i}", on, cpu="2") for i, on in enumerate(["a", "b", "d"])]
    assert evicted(Driver(*racks, *there, rack_gang(3), *urgent(3)).decide()) == ["x2"]


def test_later_members_evict_where_the_others_run_and_nowhere_else():
    racks = [*in_rack("r1", "a", "b", cpu="1"), *in_rack("r2", "c", cpu="1")]
    running = changed(urgent(1)[0], spec={"node_name": "a"})
    late = changed(urgent(2)[1], metadata={"name": "late"})
    driver = Driver(*racks, low("x", "b", 50), low("y", "c"), rack_gang(1), running, late)
    assert evicted(driver.decide()) == ["x"]


def test_pods_that_are_ending_anyway_are_waited_for():
    racks = [*in_rack("r1", "a", cpu="1"), *in_rack("r2", "b", cpu="1")]
    ending = low("x", "b", deleted="2026-01-01T00:00:00Z")
    driver = Driver(*racks, low("y", "a"), ending, rack_gang(1), *urgent(1))
    assert evicted(driver.decide()) == []
    assert nominated(driver) == {"p1": "b"}
    driver.lose(ending)
    assert placements(driver.decide()) == {"p1": "b"}


def test_room_is_found_though_many_racks_only_seem_to_have_it():
    """In all but the last, what is left beside those that matter is on two nodes, and a member needs it on one."""
    racks = [one for i in range(20) for one in in_rack(f"r{i}", f"n{i:02}", f"m{i:02}", cpu="2")]
    there = [low(f"x{side}{i}", f"{side}{i:02}", HIGH) for i in range(19) for side in "nm"]
    there += [low(f"{side}{i}", f"{side}{i:02}") for i in range(19) for side in "nm"]
    last = [low("a", "n19"), low("b", "n19"), low("c", "m19", HIGH, cpu="2")]
    driver = Driver(*racks, *there, *last, rack_gang(1), *urgent(1, cpu="2"))
    assert evicted(driver.decide()) == ["a", "b"]


@pytest.mark.parametrize("others", [1, 14])
def test_beside_pods_that_are_ending_less_has_to_go_whatever_those_matter(others):
    """Also if that is the only rack there is and many are looked at."""
    ending = low("ending", "z1", 2 * HIGH, deleted="2026-01-01T00:00:00Z")
    driver = Driver(*in_rack("last", "z1", "z2", cpu="1"), ending, low("cheap", "z2", 1))
    for number in range(others):
        driver.see(*in_rack(f"r{number}", f"n{number}", f"m{number}", cpu="1"))
        driver.see(
            low(f"u{number}", f"n{number}", 20), low(f"v{number}", f"m{number}", 20 if others == 1 else HIGH)
        )
    driver.see(rack_gang(2), *urgent(2))
    assert evicted(driver.decide()) == ["cheap"]
