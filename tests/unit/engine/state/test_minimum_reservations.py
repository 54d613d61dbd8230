"""Groups that start before all of their pods exist: the next one starts only if it finds its room beside what they will need."""

import pytest

from posse.engine.cycle.waking import SET_ASIDE_SECONDS
from posse.engine.groups.forms import COSCHEDULING, MIN_RESOURCES_ANNOTATION, NATIVE, VOLCANO
from posse.engine.keys import GroupKey
from posse.engine.state.minimum_reservations import MinimumReservations, Share
from tests.support.builders import (
    NAMESPACE,
    changed,
    composite,
    gang,
    initially_scheduled,
    node,
    nodes,
    pod,
    taint,
    toleration,
)
from tests.support.engine_driver import Driver, group_reports, placements, pod_reports
from tests.support.group_forms import coscheduling_gang, member, volcano_gang

FORMS = (NATIVE, COSCHEDULING, VOLCANO)


def needing(name, cpu, form=NATIVE, **spec):
    """A group that starts with one pod and needs so much in all."""
    if form is COSCHEDULING:
        return coscheduling_gang(name, 1, min_resources={"cpu": cpu})
    if form is VOLCANO:
        return volcano_gang(name, 1, min_resources={"cpu": cpu})
    annotations = {MIN_RESOURCES_ANNOTATION: f'{{"cpu": "{cpu}"}}'}
    return changed(gang(name, 1, **spec), metadata={"annotations": annotations})


def leader(name, form=NATIVE, **description):
    return member(f"{name}-0", form, name, cpu="1", **description)


def worker(name, number=1, form=NATIVE, **description):
    return member(f"{name}-{number}", form, name, cpu="1", **description)


def refusal(decisions, name):
    [message] = [
        told for group, started, _, told in group_reports(decisions) if group == name and not started
    ]
    return message


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_as_many_leaders_start_as_groups_fit_whole(form):
    names = [f"g{number}" for number in range(8)]
    driver = Driver(*nodes(8, cpu="1"), *(needing(name, "2", form) for name in names))
    driver.see(*(leader(name, form) for name in names))
    started = driver.bind()
    assert set(started) == {"g0-0", "g1-0", "g2-0", "g3-0"}
    driver.see(*(worker(name, form=form) for name in names[:4]))
    assert set(driver.bind()) == {"g0-1", "g1-1", "g2-1", "g3-1"}
    assert driver.bind(after=400) == {}


def test_who_waits_is_told_what_is_set_aside():
    driver = Driver(*nodes(4, cpu="1"), needing("a", "3"), needing("b", "2"), leader("a"), leader("b"))
    decisions = driver.decide()
    assert placements(decisions) == {"a-0": "n1"}
    text = "its minResources ask for 2 of cpu, and the cluster has 3 free for it"
    aside = "of which 2 are set aside for groups that have started but lack pods"
    assert refusal(decisions, "b") == f"{text}, {aside}."
    assert aside in pod_reports(decisions)["b-0"][1]


def test_of_what_is_set_aside_no_more_is_told_than_there_is():
    driver = Driver(node(cpu="2"), needing("a", "9"), leader("a", on="n1"), needing("b", "2"), leader("b"))
    message = refusal(driver.decide(), "b")
    assert "has 1 free for it, of which 1 is set aside for groups" in message


def test_who_says_nothing_of_what_it_needs_is_not_held_back():
    driver = Driver(*nodes(2, cpu="1"), needing("a", "2"), leader("a"))
    assert driver.bind() == {"a-0": "n1"}
    driver.see(pod("single", cpu="1"))
    assert driver.bind() == {"single": "n2"}


def test_groups_that_have_started_do_not_wait_for_each_other():
    driver = Driver(*nodes(6, cpu="1"), needing("a", "3"), needing("b", "3"), leader("a"), leader("b"))
    assert len(driver.bind()) == 2
    driver.see(*(pod(f"single-{number}", cpu="1") for number in range(2)))
    assert len(driver.bind()) == 2
    driver.see(*(worker(name, number) for name in "ab" for number in (1, 2)))
    assert set(driver.bind(after=20)) == {"a-1", "a-2"}


def test_what_is_set_aside_for_lesser_groups_does_not_count():
    low = needing("low", "3", priority=1)
    driver = Driver(*nodes(3, cpu="1"), low, leader("low", priority=1))
    assert len(driver.bind()) == 1
    equal, high = needing("equal", "2", priority=1), needing("high", "2", priority=2)
    driver.see(equal, leader("equal", priority=1), high, leader("high", priority=2))
    assert set(driver.bind()) == {"high-0"}


@pytest.fixture
def waiting():
    """One leader runs, and has its worker's room set aside; another one waits for that."""
    driver = Driver(*nodes(3, cpu="1"), needing("a", "2"), leader("a", on="n1"))
    driver.see(needing("b", "2"), leader("b"), node("n4", cpu="1", unschedulable=True))
    driver.see(pod("other", cpu="1", on="n2"))
    assert driver.bind() == {}
    return driver


def starts_when_room_comes(driver):
    """Whether what is free and one node more are enough for the one that waits."""
    driver.see(node("n4", cpu="1"))
    return set(driver.bind(after=20)) == {"b-0"}


def test_room_is_set_aside_as_long_as_the_leader_runs(waiting):
    assert not starts_when_room_comes(waiting)
    waiting.lose(leader("a", on="n1"))
    assert set(waiting.bind(after=20)) == {"b-0"}


def test_nothing_is_set_aside_for_a_leader_that_is_ending(waiting):
    waiting.see(leader("a", on="n1", deleted="2026-01-01T00:00:00Z"))
    assert starts_when_room_comes(waiting)


def test_nothing_is_set_aside_for_a_group_that_has_begun_to_complete(waiting):
    waiting.see(worker("a", on="n3", phase="Succeeded"))
    assert starts_when_room_comes(waiting)


def test_nothing_is_set_aside_for_a_group_that_is_deleted(waiting):
    waiting.see(changed(needing("a", "2"), metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"}))
    assert starts_when_room_comes(waiting)


def test_nothing_is_set_aside_for_a_group_that_is_gone(waiting):
    waiting.lose(needing("a", "2"))
    assert starts_when_room_comes(waiting)


@pytest.mark.parametrize("minimum", ["1", "much"])
def test_what_is_set_aside_is_what_the_group_says_now(waiting, minimum):
    waiting.see(needing("a", minimum))
    assert starts_when_room_comes(waiting)


def test_nothing_is_set_aside_for_a_group_that_says_nothing_any_more(waiting):
    waiting.see(gang("a", 1))
    assert starts_when_room_comes(waiting)


def test_a_binding_that_fails_gives_back_what_was_set_aside_for_it():
    driver = Driver(*nodes(3, cpu="1"), needing("a", "2"), needing("b", "2"), leader("a"))
    assert driver.bind() == {"a-0": "n1"}
    driver.see(leader("b"))
    assert driver.bind() == {}
    driver.refuse(leader("a"), "n1")
    assert driver.bind() == {"b-0": "n2"}


def test_who_comes_to_know_of_a_cluster_that_runs_sets_aside_the_same():
    started = changed(needing("a", "2"), status={"conditions": (initially_scheduled("True"),)})
    driver = Driver(needing("b", "2"), leader("b"), leader("a", on="n1"), started, *nodes(3, cpu="1"))
    assert driver.bind() == {}


def test_groups_of_a_tree_leave_each_other_what_they_will_need():
    children = [needing(name, "2", parent_composite_pod_group_name="root") for name in "abc"]
    driver = Driver(*nodes(5, cpu="1"), composite("root", 1), *children, *map(leader, "abc"))
    decisions = driver.decide()
    assert len(placements(decisions)) == 2
    assert "2 are set aside" in refusal(decisions, "c")


def test_what_cordoned_and_broken_nodes_have_is_not_counted_on():
    broken = [node("n2", unschedulable=True), node("n3", taints=[taint("node.kubernetes.io/not-ready")])]
    driver = Driver(node("n1", cpu="1"), *broken, needing("a", "2"), leader("a"))
    assert "has 1 free for it." in refusal(driver.decide(), "a")


def test_who_tolerates_cordons_and_broken_nodes_counts_on_them():
    broken = [node("n2", unschedulable=True), node("n3", taints=[taint("node.kubernetes.io/not-ready")])]
    driver = Driver(*broken, needing("a", "8"), leader("a", tolerations=(toleration(),)))
    assert set(driver.bind()) == {"a-0"}


def test_nodes_that_are_meant_for_some_are_counted_on_by_all():
    """Workers that do not exist yet may be those they are meant for."""
    meant = node("n2", taints=[taint("nvidia.com/gpu")])
    driver = Driver(node("n1", cpu="1"), meant, needing("a", "5"), leader("a"))
    assert driver.bind() == {"a-0": "n1"}


A, B = GroupKey(NAMESPACE, "a"), GroupKey(NAMESPACE, "b")


def test_sums_count_against_those_who_stand_no_higher():
    aside = MinimumReservations()
    aside.put(A, lambda: Share(1, {"cpu": 2}))
    aside.put(B, lambda: Share(5, {"cpu": 1, "memory": 7}))
    assert aside.against(1) == {"cpu": 3, "memory": 7}
    assert aside.against(2) == {"cpu": 1, "memory": 7}
    assert aside.against(6) == {}
    aside.drop(B)
    assert aside.against(0)["cpu"] == 2


def test_a_group_is_looked_at_again_only_when_something_became_of_it():
    aside, asked = MinimumReservations(), []

    def share():
        asked.append(A)
        return Share(0, {"cpu": len(asked)})

    aside.put(A, share)
    assert [aside.against(0)["cpu"] for _ in range(2)] == [1, 1]
    aside.note(A)
    aside.note(B)
    assert aside.against(0)["cpu"] == 2


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_what_is_raised_after_the_start_is_not_set_aside(form):
    first = leader("g1", form)
    driver = Driver(*nodes(8, cpu="1"), needing("g1", "2", form), first)
    driver.bind_and_confirm(first)
    driver.see(needing("g1", "1000", form), needing("g2", "3", form), leader("g2", form))
    assert set(driver.bind()) == {"g2-0"}
    driver.see(needing("g3", "4", form), leader("g3", form))
    assert driver.bind() == {}, "one of g1 and two of g2 are set aside, and five are free"


def test_what_is_stated_only_after_the_start_is_not_set_aside():
    first = leader("g1")
    driver = Driver(*nodes(4, cpu="1"), gang("g1", 1), first)
    driver.bind_and_confirm(first)
    driver.see(needing("g1", "1000"), needing("g2", "3"), leader("g2"))
    assert set(driver.bind()) == {"g2-0"}


def test_a_group_that_starts_anew_may_state_other_resources():
    first = leader("g1")
    driver = Driver(*nodes(8, cpu="1"), needing("g1", "2"), first)
    driver.bind_and_confirm(first)
    driver.lose(first)
    driver.see(needing("g1", "6"))
    driver.decide()
    again = leader("g1", uid="again")
    driver.see(again)
    driver.bind_and_confirm(again)
    driver.see(needing("g2", "3"), leader("g2"))
    assert driver.bind() == {}


def test_after_a_time_nothing_is_set_aside_any_more():
    first = leader("g1")
    driver = Driver(*nodes(4, cpu="1"), needing("g1", "4"), first)
    driver.bind_and_confirm(first)
    driver.see(needing("g2", "2"), leader("g2"))
    assert driver.bind() == {}
    assert driver.bind(after=SET_ASIDE_SECONDS / 2) == {}
    assert driver.engine.next_wakeup() <= driver.now + SET_ASIDE_SECONDS
    assert set(driver.bind(after=SET_ASIDE_SECONDS / 2 + 1)) == {"g2-0"}


def test_a_group_that_is_gone_is_not_waited_for():
    first, group = leader("g1"), needing("g1", "4")
    driver = Driver(*nodes(4, cpu="1"), group, first)
    driver.bind_and_confirm(first)
    driver.decide()
    driver.lose(first, group)
    driver.decide(after=1.0)
    assert driver.engine.next_wakeup() is None
