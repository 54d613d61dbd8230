"""Groups of a tree that have run to their end: nothing waits for them, and none of their pods starts below the minimum."""

from tests.support.builders import changed, composite, gang, initially_scheduled, node, one_domain, pod
from tests.support.engine_driver import Driver, group_reports, placements, pod_reports


def child(name, minimum, parent="root", **spec):
    return gang(name, minimum, parent_composite_pod_group_name=parent, **spec)


def members(group, count):
    return [pod(f"{group}-{index}", cpu="1", group=group) for index in range(count)]


def running(*groups, minimum=2, root=2, cpu="8"):
    """Return a driver with a tree of these groups, of so many pods each, all of which run on one node."""
    pods = {group: members(group, minimum) for group in groups}
    driver = Driver(node(cpu=cpu), composite("root", root), *(child(group, minimum) for group in groups))
    for each in pods.values():
        driver.see(*each)
    driver.bind_and_confirm(*(one for each in pods.values() for one in each))
    return driver, pods


def end(driver, *pods, phase="Succeeded"):
    driver.see(*(changed(one, spec={"node_name": "n1"}, status={"phase": phase}) for one in pods))


def test_a_child_that_has_succeeded_does_not_hold_its_tree():
    driver, pods = running("a", "b")
    end(driver, *pods["a"])
    end(driver, pods["b"][0], phase="Failed")
    driver.see(pod("b-again", cpu="1", group="b"))
    assert driver.bind() == {"b-again": "n1"}


def test_a_child_that_has_failed_holds_its_tree():
    driver, pods = running("a", "b")
    end(driver, *pods["a"], phase="Failed")
    end(driver, pods["b"][0], phase="Failed")
    driver.see(pod("b-again", cpu="1", group="b"))
    assert driver.bind() == {}


def test_what_is_left_of_a_finished_child_does_not_start_below_its_minimum():
    driver, pods = running("a", "b")
    end(driver, *pods["a"])
    driver.see(pod("a-late", cpu="1", group="a"), pod("b-late", cpu="1", group="b"))
    decisions = driver.decide()
    assert placements(decisions) == {"b-late": "n1"}
    text = "others of its group have finished, and 1 of the 2 pods it needs exist."
    assert pod_reports(decisions) == {"a-late": ("Unschedulable", text)}


def test_a_finished_child_that_gets_all_its_pods_anew_starts_with_the_tree_again():
    driver, pods = running("a", "b")
    end(driver, *pods["a"], *pods["b"])
    fresh = [pod(f"{group}-new-{index}", cpu="1", group=group) for group in "ab" for index in range(2)]
    driver.see(*fresh)
    assert set(driver.bind()) == {"a-new-0", "a-new-1", "b-new-0", "b-new-1"}


def test_a_group_that_joins_late_starts_beside_those_that_have_finished():
    driver, pods = running("a", "b")
    end(driver, *pods["a"])
    driver.see(child("c", 1), pod("c-0", cpu="1", group="c"))
    decisions = driver.decide()
    assert [(name, scheduled) for name, scheduled, *_ in group_reports(decisions)] == [("c", True)]


def test_room_that_was_made_for_a_finished_child_is_not_taken_by_half_of_it():
    driver, pods = running("a", "b")
    end(driver, *pods["a"])
    late = changed(pod("a-late", cpu="1", group="a"), status={"nominated_node_name": "n1"})
    driver.see(late, pod("b-late", cpu="1", group="b"))
    assert driver.bind() == {"b-late": "n1"}


def test_groups_that_join_a_tree_whose_pods_have_all_finished_share_one_domain():
    racks = [node(f"n{number}", cpu="1", labels={"rack": f"r{number}"}) for number in (1, 2)]
    done = child("done", 1, conditions=(initially_scheduled("True"),))
    driver = Driver(*racks, composite("root", 1, **one_domain()), done, child("b", 1), child("c", 1))
    driver.see(pod("done-0", cpu="1", group="done", on="n1", phase="Succeeded"))
    driver.see(*members("b", 1), *members("c", 1))
    assert list(driver.bind()) == ["b-0"]
    driver.see(node("n1", cpu="2", labels={"rack": "r1"}), node("n2", cpu="2", labels={"rack": "r2"}))
    assert list(driver.bind(after=20)) == ["c-0"]
