"""Gangs in every form, from first sight to binding, and what happens when descriptions come late, change or go."""

import pytest

from posse.engine.groups.forms import COSCHEDULING, FORMS, VOLCANO, WORKLOAD_REF, group_of
from posse.model.workload import WorkloadReference
from tests.support.builders import changed, gang, nodes, pod, priority_class
from tests.support.engine_driver import Driver, group_reports, pod_reports
from tests.support.group_forms import coscheduling_gang, describing, member, named, volcano_gang, workload


def members(form, count, first=1, **description):
    return [member(f"p{number}", form, **description) for number in range(first, first + count)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_gang_starts_whole_in_every_form(form):
    driver = Driver(*nodes(2), describing(form, 3), *members(form, 2, cpu="1"))
    assert driver.bind() == {}
    driver.see(*members(form, 1, first=3, cpu="1"))
    assert set(driver.bind(after=20)) == {"p1", "p2", "p3"}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_pods_may_come_before_what_describes_their_group(form):
    driver = Driver(*nodes(2), *members(form, 2, cpu="1"))
    assert driver.bind() == {}
    driver.see(describing(form, 2))
    decisions = driver.decide()
    assert len(group_reports(decisions)) == 1
    assert group_reports(decisions)[0][1]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_gang_that_does_not_fit_holds_nothing_and_says_why(form):
    driver = Driver(*nodes(1), describing(form, 3), *members(form, 3, cpu="2"))
    decisions = driver.decide()
    [(_, scheduled, reason, message)] = group_reports(decisions)
    assert (scheduled, reason) == (False, "Unschedulable")
    assert "only 2 of the 3" in message
    assert set(pod_reports(decisions)) == {"p1", "p2", "p3"}
    driver.see(pod("single", cpu="4"))
    assert driver.bind() == {"single": "n1"}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_what_describes_a_group_may_go_and_come_back_with_another_minimum(form):
    driver = Driver(*nodes(1), describing(form, 3), *members(form, 2, cpu="1"))
    assert driver.bind() == {}
    driver.lose(describing(form, 3))
    assert driver.bind() == {}
    again = changed(describing(form, 2), metadata={"uid": "another"})
    driver.see(again)
    assert set(driver.bind()) == {"p1", "p2"}


@pytest.mark.parametrize("form", [WORKLOAD_REF, COSCHEDULING, VOLCANO], ids=lambda form: form.name)
def test_a_smaller_minimum_lets_waiting_pods_go(form):
    driver = Driver(*nodes(1), describing(form, 3), *members(form, 3, cpu="2"))
    assert driver.bind() == {}
    driver.see(describing(form, 2))
    assert len(driver.bind()) == 2


def test_a_workload_may_turn_a_gang_into_a_basic_group():
    driver = Driver(*nodes(1), workload("g1", a=5), *members(WORKLOAD_REF, 2, cpu="1"))
    assert driver.bind() == {}
    driver.lose(workload("g1", a=5))
    driver.see(workload("g1", uid="again", a=None))
    assert set(driver.bind()) == {"p1", "p2"}


def test_members_wait_for_a_workload_that_has_their_group():
    driver = Driver(*nodes(1), workload("g1", b=1), *members(WORKLOAD_REF, 1, cpu="1"))
    assert driver.bind() == {}
    [summary] = driver.engine.overview().groups
    assert (summary.state, summary.message) == (
        "WaitingForPodGroup",
        "Workload g1 has no pod group 'a' yet, only b",
    )
    driver.see(workload("g1", uid="again", a=1, b=1))
    assert driver.bind() == {"p1": "n1"}


def test_replicas_of_a_group_start_each_for_itself():
    first = [member(f"x{number}", WORKLOAD_REF, key="key-1", cpu="1") for number in range(2)]
    second = [member(f"y{number}", WORKLOAD_REF, key="key-2", cpu="1") for number in range(1)]
    driver = Driver(*nodes(1), workload("g1", a=2), *first, *second)
    assert set(driver.bind()) == {"x0", "x1"}
    driver.see(member("y1", WORKLOAD_REF, key="key-2", cpu="1"))
    assert set(driver.bind(after=20)) == {"y0", "y1"}


def test_groups_of_one_workload_start_each_for_itself():
    small = [member("s1", WORKLOAD_REF, pod_group="small", cpu="1")]
    large = [member(f"l{number}", WORKLOAD_REF, pod_group="large", cpu="3") for number in range(2)]
    driver = Driver(*nodes(1), workload("g1", small=1, large=2), *large, *small)
    assert driver.bind() == {"s1": "n1"}


def test_an_implied_group_is_forgotten_with_its_last_member():
    one = member("p1", WORKLOAD_REF, cpu="1")
    driver = Driver(*nodes(1), workload("g1", a=1), one)
    driver.decide()
    assert len(driver.engine.overview().groups) == 1
    driver.lose(one)
    driver.decide()
    assert driver.engine.overview().groups == ()
    driver.lose(workload("g1", a=1))
    driver.see(one)
    assert driver.bind() == {}


def test_a_group_may_name_a_workload_that_does_not_exist():
    reference = WorkloadReference(workload_name="nowhere", template_name="t")
    driver = Driver(*nodes(1), gang("g1", 1, workload_ref=reference), pod("p1", cpu="1", group="g1"))
    assert driver.bind() == {"p1": "n1"}


def test_a_label_that_names_a_group_of_another_kind_waits_for_its_own():
    driver = Driver(*nodes(1), gang("g1", 1), named(pod("p1", cpu="1"), COSCHEDULING))
    assert driver.bind() == {}
    driver.see(coscheduling_gang("g1", 1))
    assert driver.bind() == {"p1": "n1"}


def test_groups_of_one_name_in_two_forms_do_not_mix():
    mine = [member("a1", COSCHEDULING, cpu="1"), member("b1", VOLCANO, cpu="1")]
    driver = Driver(*nodes(1), coscheduling_gang("g1", 2), volcano_gang("g1", 2), *mine)
    assert driver.bind() == {}
    driver.see(member("b2", VOLCANO, cpu="1"))
    assert set(driver.bind(after=20)) == {"b1", "b2"}


def test_a_pod_may_change_its_group_while_it_waits():
    lonely = named(pod("p1", cpu="1"), COSCHEDULING, "crowd")
    driver = Driver(*nodes(1), coscheduling_gang("crowd", 5), coscheduling_gang("duo", 1), lonely)
    assert driver.bind() == {}
    driver.see(named(lonely, COSCHEDULING, "duo"))
    assert driver.bind() == {"p1": "n1"}


def test_a_pod_may_leave_and_join_groups_by_its_label():
    waiting = named(pod("p1", cpu="1"), COSCHEDULING, "crowd")
    driver = Driver(*nodes(1), coscheduling_gang("crowd", 2), waiting)
    assert driver.bind() == {}
    driver.see(changed(waiting, metadata={"labels": {}}))
    assert driver.bind() == {"p1": "n1"}
    late = pod("p2", cpu="8")
    driver.see(late)
    assert driver.bind() == {}
    joined = named(late, COSCHEDULING, "crowd")
    driver.see(joined)
    driver.decide()
    [crowd] = [group for group in driver.engine.overview().groups if group.key == group_of(joined)]
    assert (crowd.members, crowd.state) == (1, "WaitingForPods")


def test_members_of_groups_without_a_priority_may_differ_and_the_weakest_decides():
    strong = member("a", VOLCANO, cpu="3", priority=10)
    weak = member("b", VOLCANO, cpu="1", priority=1)
    single = pod("single", cpu="2", priority=5)
    driver = Driver(*nodes(1), volcano_gang("g1", 2), strong, weak, single)
    assert driver.bind() == {"single": "n1"}


def test_the_class_in_a_template_of_the_workload_counts_for_its_members():
    described = workload("g1", a=1, priority_class_name="high")
    driver = Driver(
        priority_class("high", 5), *nodes(1, cpu="1"), described, pod("single", cpu="1", priority=3)
    )
    driver.see(member("p1", WORKLOAD_REF, cpu="1", created="2027-01-01T00:00:00Z"))
    assert driver.bind() == {"p1": "n1"}


@pytest.mark.parametrize(
    ("form", "group"),
    [
        (COSCHEDULING, coscheduling_gang("g1", 2, phase="Scheduled")),
        (VOLCANO, volcano_gang("g1", 2, phase="Running")),
    ],
)
def test_who_has_started_before_is_not_told_again(form, group):
    driver = Driver(*nodes(1), group, *members(form, 2, cpu="1", on="n1"))
    assert driver.decide() == []
