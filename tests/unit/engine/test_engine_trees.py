"""Trees of groups in the engine: when they are tried, what starts of them, and what everybody is told."""

import sys

import pytest

from posse.engine.decisions import Evict, MarkDisrupted, ReportGroup
from posse.engine.events import GroupReportFailed
from posse.engine.groups.forms import MIN_RESOURCES_ANNOTATION
from posse.engine.options import EngineOptions
from posse.engine.queue.timers import HELD_SECONDS
from posse.model.feature_gates import ALL_GATES, Gate
from posse.model.meta import ObjectMeta
from posse.model.workload import AllDisruptionMode, DisruptionMode, Workload, WorkloadReference
from tests.support.builders import (
    NAMESPACE,
    basic_group,
    changed,
    composite,
    gang,
    gated,
    initially_scheduled,
    node,
    nodes,
    one_domain,
    pod,
)
from tests.support.engine_driver import Driver, binds, group_reports, placements, pod_reports

ALL = DisruptionMode(all=AllDisruptionMode())


def child(name, minimum, parent="root", **spec):
    return gang(name, minimum, parent_composite_pod_group_name=parent, **spec)


def inner(name, minimum=None, parent="root", **spec):
    return composite(name, minimum, parent_composite_pod_group_name=parent, **spec)


def members(group, count, cpu="1", **spec):
    return [pod(f"{group}-{index}", cpu=cpu, group=group, **spec) for index in range(count)]


def started(decisions):
    return {d.group.name for d in decisions if isinstance(d, ReportGroup) and d.scheduled}


def refused(decisions):
    return {
        name: (reason, message)
        for name, scheduled, reason, message in group_reports(decisions)
        if not scheduled
    }


@pytest.mark.parametrize("backwards", [False, True], ids=["parents first", "children first"])
def test_a_tree_starts_as_one_whatever_comes_first(backwards):
    objects = [
        composite("root", 2),
        inner("mid", 1),
        child("a", 2, "mid"),
        child("b", 1),
        *members("a", 2),
        *members("b", 1),
    ]
    driver = Driver(node(cpu="4"))
    for obj in reversed(objects) if backwards else objects:
        assert driver.bind() == {}
        driver.see(obj)
    decisions = driver.decide()
    assert len(binds(decisions)) == 1
    assert set(placements(decisions)) == {"a-0", "a-1", "b-0"}
    assert started(decisions) == {"root", "mid", "a", "b"}


def test_nothing_of_a_tree_is_bound_if_its_minimum_of_groups_does_not_fit():
    driver = Driver(node(cpu="3"), composite("root", 2), child("a", 2), child("b", 2))
    driver.see(*members("a", 2), *members("b", 2))
    decisions = driver.decide()
    assert binds(decisions) == []
    told = refused(decisions)
    assert set(told) == {"root", "a", "b"}
    assert told["root"][0] == "Unschedulable"
    assert told["root"][1].startswith(
        "only 1 of the 2 groups that must start together fit; pod group b: only 1 of the 2 pods"
    )
    assert told["a"][1].startswith(
        "pod group is unschedulable, composite pod group root: only 1 of the 2 groups"
    )
    assert {reason for reason, _ in pod_reports(decisions).values()} == {"Unschedulable"}
    driver.see(node("n2", cpu="1"))
    assert len(driver.bind(after=20)) == 4


def test_what_fails_below_a_group_that_starts_waits_and_starts_later():
    driver = Driver(node(cpu="4"), composite("root", 2), child("a", 2), child("b", 2), child("c", 2))
    pods = [*members("a", 2), *members("b", 2), *members("c", 2)]
    driver.see(*pods)
    decisions = driver.decide()
    assert set(placements(decisions)) == {"a-0", "a-1", "b-0", "b-1"}
    assert started(decisions) == {"root", "a", "b"}
    assert set(refused(decisions)) == {"c"}
    driver.confirm(*pods[:4], on="n1")
    driver.see(node("n2", cpu="2"))
    decisions = driver.decide(after=20)
    assert set(placements(decisions)) == {"c-0", "c-1"}
    assert started(decisions) == {"c"}


def test_a_group_does_not_take_with_further_pods_what_another_needs_to_start():
    driver = Driver(node(cpu="4"), composite("root", 2), child("a", 2), child("b", 2))
    driver.see(*members("a", 4), *members("b", 2))
    bound = driver.bind()
    assert {name[0] for name in bound} == {"a", "b"}
    assert len(bound) == 4


def test_a_failing_branch_gives_back_what_it_held():
    driver = Driver(
        node(cpu="4"),
        composite("root"),
        inner("strict", 2),
        child("a", 3, "strict"),
        child("b", 3, "strict"),
        child("c", 2),
    )
    driver.see(*members("a", 3), *members("b", 3), *members("c", 2))
    decisions = driver.decide()
    assert set(placements(decisions)) == {"c-0", "c-1"}
    assert started(decisions) == {"root", "c"}
    assert set(refused(decisions)) == {"strict", "a", "b"}


def test_a_minimum_of_groups_may_be_lowered():
    driver = Driver(*nodes(1, cpu="2"), composite("root", 2), child("a", 2), *members("a", 2))
    driver.see(child("b", 2), *members("b", 2))
    assert placements(driver.decide()) == {}
    driver.see(composite("root", 1))
    assert set(placements(driver.decide())) == {"a-0", "a-1"}


def test_a_raised_minimum_of_groups_holds_for_what_has_not_started():
    driver = Driver(*nodes(1, cpu="4"), composite("root", 1), child("a", 3), *members("a", 2))
    assert placements(driver.decide()) == {}
    driver.see(composite("root", 2), *members("a", 3)[2:])
    assert placements(driver.decide()) == {}
    driver.see(child("b", 1), *members("b", 1))
    assert len(placements(driver.decide())) == 4


def test_a_branch_that_lacks_groups_is_not_tried_and_its_pods_are_told():
    driver = Driver(node(cpu="4"), composite("root"), child("a", 1), inner("sub", 2), child("b", 1, "sub"))
    driver.see(*members("a", 1), *members("b", 1))
    decisions = driver.decide()
    assert set(placements(decisions)) == {"a-0"}
    text = "1 of the 2 groups it needs have the pods they need; only 1 exist."
    assert refused(decisions)["sub"] == ("WaitingForPods", text)
    assert pod_reports(decisions) == {"b-0": ("Unschedulable", text)}


def test_a_tree_whose_root_lacks_groups_or_pods_waits_silently():
    driver = Driver(node(cpu="4"), composite("root", 2), child("a", 1), child("b", 2))
    driver.see(*members("a", 1), *members("b", 1))
    assert driver.decide() == []
    driver.see(pod("b-1", cpu="1", group="b"))
    assert len(driver.bind()) == 3


def test_a_gated_member_holds_the_tree():
    driver = Driver(node(cpu="4"), composite("root"), child("a", 1), child("b", 1))
    held = pod("b-0", cpu="1", group="b", scheduling_gates=gated("later"))
    driver.see(*members("a", 1), held)
    assert driver.decide() == []
    driver.see(changed(held, spec={"scheduling_gates": ()}))
    assert len(driver.bind()) == 2


def test_pods_that_come_later_join_a_tree_that_runs():
    driver = Driver(node(cpu="3"), composite("root", 2), child("a", 1), child("b", 1))
    pods = [*members("a", 1), *members("b", 1)]
    driver.see(*pods)
    driver.bind_and_confirm(*pods)
    driver.see(pod("a-1", cpu="1", group="a"), pod("a-2", cpu="1", group="a"))
    decisions = driver.decide()
    assert placements(decisions) == {"a-1": "n1"}
    assert set(pod_reports(decisions)) == {"a-2"}


def test_those_that_came_later_wait_until_bindings_are_seen():
    driver = Driver(node(cpu="4"), composite("root", 2), child("a", 1), child("b", 1))
    pods = [*members("a", 1), *members("b", 1)]
    driver.see(*pods)
    assert len(driver.bind()) == 2
    driver.see(pod("a-1", cpu="1", group="a"))
    assert driver.bind() == {}
    driver.confirm(*pods, on="n1")
    assert driver.bind() == {"a-1": "n1"}


def test_an_invalid_tree_is_told_so_everywhere_and_recovers():
    deep = [composite("l1"), inner("l2", parent="l1"), inner("l3", parent="l2"), inner("l4", parent="l3")]
    leaf = child("g", 1, "l4")
    driver = Driver(node(), *deep, leaf, *members("g", 1))
    decisions = driver.decide()
    text = "the tree is more than 4 levels deep: l1 > l2 > l3 > l4 > g"
    assert refused(decisions) == dict.fromkeys(["l1", "l2", "l3", "l4", "g"], ("Invalid", text))
    assert pod_reports(decisions) == {"g-0": ("SchedulerError", text)}
    assert driver.decide(after=60) == []
    driver.lose(deep[3])
    assert {name: reason for name, (reason, _) in refused(driver.decide()).items()} == {
        **dict.fromkeys(["l1", "l2", "l3"], "WaitingForPods"),
        "g": "WaitingForPodGroup",
    }
    driver.see(inner("l4", parent="l2", uid="other"))
    decisions = driver.decide()
    assert placements(decisions) == {"g-0": "n1"}
    assert started(decisions) == {"l1", "l2", "l4", "g"}


def test_a_circle_is_told_to_all_in_it():
    driver = Driver(node(), inner("a", parent="b"), inner("b", parent="a"), child("g", 1, "a"))
    driver.see(*members("g", 1))
    assert set(refused(driver.decide())) == {"a", "b", "g"}
    driver.see(changed(composite("b"), metadata=composite("b", uid="fresh").metadata))
    assert driver.bind() == {"g-0": "n1"}


@pytest.mark.parametrize("pods", [0, 1], ids=["without pods", "with a pod"])
def test_a_group_that_is_its_own_parent_is_told_so(pods):
    driver = Driver(node(), inner("a", parent="a"), child("g", 1, "a"), *members("g", pods))
    told = refused(driver.decide())
    text = "composite pod groups are each other's ancestors: a > a"
    assert told == dict.fromkeys(["a", "g"], ("Invalid", text))


def test_what_is_wrong_with_a_tree_is_told_before_it_has_pods_and_taken_back_once_it_is_mended():
    driver = Driver(node(), composite("root", 1, priority=1), child("g", 1))
    decisions = driver.decide()
    assert {reason for reason, _ in refused(decisions).values()} == {"Invalid"}
    assert {d.scheduler_name for d in decisions} == {"default-scheduler"}
    driver.lose(child("g", 1))
    driver.see(child("g", 1, priority=1, uid="other"))
    text = "none of its groups has the pods it needs; not g"
    assert refused(driver.decide()) == {"root": ("WaitingForPods", text)}
    driver.see(child("h", 1, priority=1))
    assert refused(driver.decide(after=HELD_SECONDS)) == {}
    assert refused(driver.decide(after=HELD_SECONDS)) == {"root": ("WaitingForPods", f"{text}, h")}


def test_a_workload_that_appears_is_held_against_the_tree():
    other = Workload(metadata=ObjectMeta(name="w", namespace=NAMESPACE))
    driver = Driver(node(cpu="0"), composite("root"), child("g", 1), *members("g", 1))
    driver.decide()
    driver.see(other)
    assert refused(driver.decide())["root"][0] == "Invalid"
    driver.lose(other)
    assert refused(driver.decide())["root"][0] == "Unschedulable"


def test_pods_that_disagree_with_their_group_are_an_error_of_the_tree_where_they_must_match():
    objects = [composite("root", priority=5), child("g", 1, priority=5), *members("g", 1)]
    assert Driver(node(), *objects).bind() == {"g-0": "n1"}
    told = refused(Driver(node(), *objects, options=EngineOptions(members_must_match=True)).decide())
    assert {reason for reason, _ in told.values()} == {"SchedulerError"}


def test_without_the_gate_groups_stand_for_themselves():
    gates = ALL_GATES - {Gate.COMPOSITE_POD_GROUP}
    driver = Driver(node(), options=EngineOptions(gates=gates))
    driver.see(composite("root", 2), child("g", 1), *members("g", 1))
    assert driver.bind() == {"g-0": "n1"}


def test_a_root_comes_by_its_priority():
    driver = Driver(node(cpu="1"), composite("root", priority=7), child("g", 1, priority=7))
    driver.see(pod("early", cpu="1"), *members("g", 1, priority=7, created="2027-01-01T00:00:00Z"))
    assert driver.bind() == {"g-0": "n1"}


def test_a_refused_binding_sends_the_whole_tree_behind_a_backoff():
    driver = Driver(node(cpu="4"), composite("root", 2), child("a", 1), child("b", 1))
    pods = [*members("a", 1), *members("b", 1)]
    driver.see(*pods)
    driver.bind()
    for one in pods:
        driver.refuse(one, "n1")
    assert driver.bind() == {}
    decisions = driver.decide(after=5)
    assert set(placements(decisions)) == {"a-0", "b-0"}
    assert len(binds(decisions)) == 1


def test_a_tree_that_is_disrupted_as_one_goes_as_one_and_is_marked():
    driver = Driver(
        *nodes(2, cpu="2"),
        composite("low", disruption_mode=ALL),
        inner("half", parent="low"),
        child("a", 1, "half"),
        child("b", 1, "low"),
        pod("a-0", cpu="1", group="a", on="n1"),
        pod("b-0", cpu="1", group="b", on="n2"),
    )
    driver.decide()
    driver.see(pod("high", cpu="2", priority=10))
    decisions = driver.decide()
    assert {d.pod.name for d in decisions if isinstance(d, Evict)} == {"a-0", "b-0"}
    marked = [d.group.name for d in decisions if isinstance(d, MarkDisrupted)]
    assert sorted(marked) == ["a", "b", "half", "low"]


def test_victims_go_for_the_whole_tree_or_not_at_all():
    driver = Driver(
        *nodes(2, cpu="2"),
        pod("low-1", cpu="2", on="n1"),
        pod("top", cpu="2", on="n2", priority=99),
        composite("root", 2, priority=10),
        child("a", 2, priority=10),
        child("b", 2, priority=10),
    )
    driver.see(*members("a", 2, priority=10), *members("b", 2, priority=10))
    assert [d for d in driver.decide() if isinstance(d, Evict)] == []
    driver.see(node("n3", cpu="2"))
    decisions = driver.decide(after=20)
    evicted = [d for d in decisions if isinstance(d, Evict)]
    assert [(d.pod.name, d.preemptor.key.name) for d in evicted] == [("low-1", "root")]
    driver.lose(pod("low-1", cpu="2", on="n1"))
    assert len(driver.bind()) == 4


def test_a_basic_leaf_that_expects_pods_keeps_its_tree_waiting_a_moment():
    leaf = basic_group("a", expected=2, parent_composite_pod_group_name="root")
    driver = Driver(node(), composite("root"), leaf, *members("a", 1))
    assert driver.bind() == {}
    assert driver.bind(after=2.5) == {"a-0": "n1"}


def test_different_trees_do_not_mix():
    other = WorkloadReference(workload_name="v", template_name="t")
    driver = Driver(node(cpu="2"), composite("one", 1), composite("two", 1, workload_ref=other))
    driver.see(child("a", 2, "one"), child("b", 2, "two"), *members("a", 2), *members("b", 2))
    assert set(driver.bind()) == {"a-0", "a-1"}


def test_a_tree_of_any_depth_is_only_too_deep():
    chain = [inner(f"l{number}", parent=f"l{number - 1}") for number in range(1, 400)]
    driver = Driver(node(), composite("l0"), *chain, child("g", 1, "l399"), *members("g", 1))
    told = refused(driver.decide())
    assert len(told) == 401
    assert told["l16"] == ("Invalid", "the tree is more than 4 levels deep: l0 > l1 > l2 > l3 > l4")
    buried = "more than 16 groups are above it, and a tree has at most 4 levels"
    assert told["l17"] == told["g"] == ("Invalid", buried)


@pytest.mark.parametrize("is_upwards", [False, True])
def test_each_group_of_a_chain_is_read_a_bounded_number_of_times(is_upwards):
    def steps(length):
        chain = [composite("l0"), *(inner(f"l{n}", parent=f"l{n - 1}") for n in range(1, length))]
        driver = Driver(node())
        counted = 0

        def count(_frame, event, _arg):
            nonlocal counted
            counted += event == "call"

        for group in reversed(chain) if is_upwards else chain:
            driver.see(group)
            sys.setprofile(count)
            driver.decide()
            sys.setprofile(None)
        return counted

    assert steps(400) < 2.5 * steps(200)


def test_a_group_that_is_not_buried_any_more_is_tried():
    chain = [inner(f"l{number}", parent=f"l{number - 1}") for number in range(1, 20)]
    driver = Driver(node(), composite("l0"), *chain, child("g", 1, "l19"), *members("g", 1))
    assert refused(driver.decide())
    driver.lose(chain[17])
    driver.see(composite("l18"))
    assert driver.bind(after=60) == {"g-0": "n1"}


def test_a_tree_with_too_many_groups_is_told_so(monkeypatch):
    for module in ("hierarchy_links", "admission"):
        monkeypatch.setattr(f"posse.engine.groups.{module}.MAX_GROUPS", 3)
    leaves = [child(name, 1) for name in "abcd"]
    driver = Driver(node(), composite("root", 1), *leaves, *members("a", 1))
    assert refused(driver.decide())["root"] == ("Invalid", "the tree has more than 3 groups")
    driver.lose(*leaves[1:3])
    assert driver.bind(after=60) == {"a-0": "n1"}


def test_room_that_was_made_for_a_group_which_cannot_start_any_more_is_not_taken_by_half_of_it():
    half = changed(pod("b-0", cpu="1", group="b"), status={"nominated_node_name": "n1"})
    tree = [composite("root", 1), child("a", 1), child("b", 2)]
    driver = Driver(node(cpu="4"), *tree, half, *members("a", 1))
    assert driver.bind() == {"a-0": "n1"}


def test_a_group_with_too_little_in_the_cluster_does_not_start_in_a_tree_either():
    asks_much = changed(child("a", 1), metadata={"annotations": {MIN_RESOURCES_ANNOTATION: '{"cpu": "5"}'}})
    driver = Driver(node(cpu="4"), composite("root", 1), asks_much, child("b", 1))
    driver.see(*members("a", 1), *members("b", 1))
    decisions = driver.decide()
    assert placements(decisions) == {"b-0": "n1"}
    text = "its minResources ask for 5 of cpu, and the cluster has 3 free for it."
    assert refused(decisions) == {"a": ("Unschedulable", text)}


def test_an_error_of_a_child_that_the_tree_needs_is_one_of_the_tree_until_nodes_change():
    racks = [node("n1", labels={"rack": "r1"}), node("n2", labels={"rack": "r2"})]
    driver = Driver(*racks, composite("root", 2), child("a", 3, **one_domain()), child("b", 1))
    driver.see(pod("a-0", group="a", on="n1"), pod("a-1", group="a", on="n2"), pod("a-2", group="a"))
    driver.see(*members("b", 1))
    told = refused(driver.decide())
    assert {name: reason for name, (reason, _) in told.items()} == dict.fromkeys(
        ["root", "a", "b"], "SchedulerError"
    )
    assert "more than 1 domain found" in told["root"][1]
    driver.see(node("n2", labels={"rack": "r1"}))
    assert set(driver.bind(after=20)) == {"a-2", "b-0"}


def test_an_error_of_a_child_that_the_tree_can_do_without_is_its_own():
    racks = [node("n1", labels={"rack": "r1"}), node("n2", labels={"rack": "r2"})]
    driver = Driver(*racks, composite("root", 1), child("a", 3, **one_domain()), child("b", 1))
    driver.see(pod("a-0", group="a", on="n1"), pod("a-1", group="a", on="n2"), pod("a-2", group="a"))
    driver.see(*members("b", 1))
    decisions = driver.decide()
    assert set(placements(decisions)) == {"b-0"}
    assert {name: reason for name, (reason, _) in refused(decisions).items()} == {"a": "SchedulerError"}
    driver.confirm(*members("b", 1), on=placements(decisions)["b-0"])
    driver.see(node("n2", labels={"rack": "r1"}))
    assert "a-2" in driver.bind(after=20)


def test_a_report_that_was_lost_is_sent_again_though_all_pods_of_the_tree_are_gone():
    one = members("a", 1)
    driver = Driver(node("n1", cpu="1"), composite("root", 1), child("a", 1), *one)
    reports = [d for d in driver.decide() if isinstance(d, ReportGroup)]
    assert [(report.group.name, report.scheduled) for report in reports] == [("a", True), ("root", True)]
    driver.confirm(*one, on="n1")
    driver.lose(*one)
    for report in reports:
        driver.engine.absorb(GroupReportFailed(report))
    again = [d for d in driver.decide() if isinstance(d, ReportGroup)]
    assert [(report.group.name, report.holds_anyway) for report in again] == [("a", True), ("root", True)]


def test_of_a_tree_only_what_is_bound_now_is_told_before_its_bindings_are_seen():
    one, other = members("a", 1), members("b", 2)
    driver = Driver(*nodes(4, cpu="1"), composite("root", 1), child("a", 1), child("b", 1), *one, other[0])
    places = driver.bind()
    driver.confirm(other[0], on=places["b-0"])
    driver.decide()
    driver.lose(child("a", 1))
    driver.see(changed(child("a", 1), metadata={"uid": "another"}), other[1])
    decisions = driver.decide()
    assert list(placements(decisions)) == ["b-1"]
    assert started(decisions) == set()
    driver.confirm(*one, on=places["a-0"])
    assert started(driver.decide()) == {"a"}


def test_nobody_speaks_for_a_tree_that_another_scheduler_has_started():
    done = changed(child("a", 1), status={"conditions": (initially_scheduled("True"),)})
    theirs = [changed(one, spec={"scheduler_name": "other", "node_name": "n1"}) for one in members("a", 1)]
    driver = Driver(node("n1"), composite("root", 1), done, *theirs)
    assert driver.decide() == []
    driver.see(*(changed(one, status={"phase": "Succeeded"}) for one in theirs))
    assert driver.decide() == []


def test_nobody_joins_a_group_in_a_tree_on_the_strength_of_a_binding_that_may_not_hold():
    """It stood for itself, and could start alone; below the tree it needs one more."""
    first, second = members("a", 2)
    driver = Driver(*nodes(2, cpu="1"), composite("root", 1), gang("a", 1), first)
    places = driver.bind()
    assert list(places) == ["a-0"]
    driver.lose(gang("a", 1))
    driver.see(changed(child("a", 2), metadata={"uid": "another"}), second)
    assert driver.bind() == {}
    driver.confirm(first, on=places["a-0"])
    assert list(driver.bind()) == ["a-1"]
