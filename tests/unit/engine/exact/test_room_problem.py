"""What may be stopped to make room for a group."""

from posse.engine.keys import GroupKey
from posse.engine.placement_problem import RemedyProblem, UnmodelledRules
from tests.support.builders import NAMESPACE, gang, nodes, pod, pods
from tests.support.device_objects import device_class, pods_with_own, resource_slice
from tests.support.engine_driver import Driver

KEY = GroupKey(NAMESPACE, "g1")


def problem(*objects):
    driver = Driver(*objects)
    driver.decide()
    return driver.engine.room_problem(KEY)


def test_groups_are_stopped_as_a_whole_whatever_their_priority():
    running = [pod(f"a{i}", cpu="1", group="a", on=f"n{i}", priority=9) for i in (1, 2)]
    alone = pod("alone", cpu="1", on="n3")
    found = problem(
        *nodes(3, cpu="1"), gang("a", 2), *running, alone, gang(minimum=3), *pods(3, cpu="1", group="g1")
    )
    assert isinstance(found, RemedyProblem)
    units = {one.name: len(one.pods) for one in found.evictable_units}
    assert units == {f"podgroup {NAMESPACE}/a": 2, f"pod {NAMESPACE}/alone": 1}


def test_pods_of_the_system_are_left_alone():
    system = pod("dns", cpu="1", on="n1", priority=2_000_000_000)
    found = problem(*nodes(2, cpu="1"), system, gang(), *pods(2, cpu="1", group="g1"))
    assert isinstance(found, RemedyProblem)
    assert found.evictable_units == ()


def test_a_group_that_runs_has_no_such_problem():
    assert problem(*nodes(2, cpu="1"), gang(), *pods(2, cpu="1", group="g1")) is None


def test_devices_are_not_counted_and_that_is_told():
    waiting, claims = pods_with_own(2, group="g1")
    found = problem(*nodes(1), device_class(), resource_slice("n1", 1), gang(), *claims, *waiting)
    assert found == UnmodelledRules(("DynamicResources",))
