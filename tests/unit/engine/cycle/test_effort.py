"""A decision that takes too many steps is broken off: others go first, and it gets more steps after a pause."""

import pytest

from posse.engine.state import effort
from posse.model.meta import LabelSelector
from posse.model.placement import TopologySpreadConstraint
from tests.support.builders import changed, gang, nodes, pod
from tests.support.engine_driver import Driver, group_reports, placements

HEAVY = tuple(
    TopologySpreadConstraint(
        max_skew=50,
        topology_key="kubernetes.io/hostname",
        when_unsatisfiable=otherwise,
        label_selector=LabelSelector(match_labels={"app": "heavy"}),
    )
    for otherwise in ("DoNotSchedule", "ScheduleAnyway")
)


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch):
    """Enough for about ten of the heavy pods."""
    monkeypatch.setattr(effort, "FIRST_STEPS", 20)
    monkeypatch.setattr("posse.engine.cycle.pod_turn.FIRST_STEPS", 20)


def heavy(name, **spec):
    made = pod(name, topology_spread_constraints=HEAVY, **spec)
    return changed(made, metadata={"labels": {"app": "heavy"}})


def spreading_nodes():
    return [
        changed(node, metadata={"labels": {"kubernetes.io/hostname": node.metadata.name}})
        for node in nodes(4)
    ]


def members(count):
    return [heavy(f"g-{number}", group="g") for number in range(count)]


def test_a_group_that_takes_too_many_steps_goes_behind_others():
    driver = Driver(*spreading_nodes(), gang("g", 30), *members(30), pod("small"))
    decisions = driver.decide()
    assert list(placements(decisions)) == ["small"]
    ((name, _, _, message),) = group_reports(decisions)
    assert name == "g"
    assert message.startswith("Deciding takes too long; others go first")


def test_it_is_tried_again_after_growing_pauses_with_more_steps():
    driver = Driver(*spreading_nodes(), gang("g", 30), *members(30))
    waited = []
    while not placements(driver.decide()):
        wakeup = driver.engine.next_wakeup()
        waited.append(wakeup - driver.now)
        driver.now = wakeup
    assert waited == [1.0, 2.0]


def test_changes_of_its_own_do_not_bring_it_forward():
    driver = Driver(*spreading_nodes(), gang("g", 30), *members(30))
    driver.decide()
    driver.see(changed(members(30)[0], metadata={"labels": {"app": "heavy", "poked": "yes"}}))
    driver.see(gang("g", 29))
    assert not driver.decide(after=0.5)


def test_members_beyond_the_minimum_are_placed_later():
    driver = Driver(*spreading_nodes(), gang("g", 2), *members(12))
    placed = driver.bind_and_confirm(*members(12))
    assert 2 <= len(placed) < 12
    for _ in range(8):
        placed |= driver.bind_and_confirm(*members(12), after=30)
    assert len(placed) == 12


def test_single_pods_of_a_class_that_takes_many_steps_let_others_pass():
    pods = [heavy(f"h-{number}") for number in range(30)]
    driver = Driver(*spreading_nodes(), *pods, pod("small"))
    first = placements(driver.decide())
    assert "small" in first
    assert len(first) < 31
    for _ in range(8):
        first |= placements(driver.decide(after=300))
    assert len(first) == 31


def test_the_next_scheduler_is_not_held_up_either():
    driver = Driver(*spreading_nodes(), gang("g", 30), *members(30))
    driver.decide(after=100)
    successor = Driver(*spreading_nodes(), gang("g", 30), *members(30), pod("small"))
    assert list(placements(successor.decide())) == ["small"]
