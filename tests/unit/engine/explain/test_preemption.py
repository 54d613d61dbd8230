"""Explanations of a preemption under way: to the preemptor, to its victims, and to others that wait."""

import pytest

from posse.engine.explain.preemption import ReservedCapacity
from posse.engine.groups.forms import DISRUPTION_TARGET
from posse.engine.keys import GroupKey, GroupRef, PodRef
from posse.engine.preemption.cost import Cost
from posse.engine.preemption.marks import PREEMPTION, mark_for
from posse.engine.reporting.messages import preemption_text
from posse.model.pod import PodCondition
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import NAMESPACE, changed, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver

HIGH = 100
URGENT = GroupKey(NAMESPACE, "g1")
WHOLE = DisruptionMode(all=AllDisruptionMode())


def low(name, on, priority=0, **description):
    return pod(name, on=on, priority=priority, **({"cpu": "1"} | description))


def names(refs):
    return sorted(ref.name for ref in refs)


def cost_of(priority, count, **further):
    return Cost(0, priority, (priority + 2**31) * count, count, **further)


def restarted(driver, *objects, preemptor):
    """Return a driver that knows no more than what the first one has written on the objects."""
    records = driver.engine._knowledge.pods
    mark = PodCondition(type=DISRUPTION_TARGET, status="True", reason=PREEMPTION, message=mark_for(preemptor))
    ending = {"metadata": {"deletion_timestamp": "2026-01-01T00:00:00Z"}, "status": {"conditions": (mark,)}}
    after = []
    for obj in objects:
        record = records.get(obj.metadata.uid)
        if record is not None and record.evicted_for:
            after.append(changed(obj, **ending))
        elif record is not None and record.nominated:
            after.append(changed(obj, status={"nominated_node_name": record.nominated}))
        else:
            after.append(obj)
    return Driver(*after)


@pytest.fixture(params=["at once", "after a restart"])
def later(request):
    """Return how the cluster is seen later on."""
    return restarted if request.param == "after a restart" else lambda driver, *_, **__: driver


def group_preempting(later):
    """Two nodes of `low`, which goes as a whole, make way; `b` and `c` of a higher priority could have done so."""
    objects = [
        *nodes(4, cpu="1"),
        gang("low", minimum=2, priority=0, disruption_mode=WHOLE),
        low("a1", "n1", group="low"),
        low("a2", "n2", group="low"),
        low("b", "n3", 5),
        low("c", "n4", 5),
        gang(priority=HIGH),
        *pods(2, cpu="1", group="g1", priority=HIGH),
        pod("other", cpu="1", priority=1),
    ]
    driver = Driver(*objects)
    driver.decide()
    return later(driver, *objects, preemptor=GroupRef(URGENT, "uid-g1", "default-scheduler"))


def test_a_group_is_told_who_leaves_for_it_why_and_what_else_would_have_done(later):
    told = group_preempting(later).engine.explain(URGENT).making_room
    assert told.is_under_way
    assert names(told.victims) == ["a1", "a2"]
    assert told.cost == cost_of(0, 2, whole=2)
    assert preemption_text(told.progress) == "preempting 1 group, 2 pods; waiting for 2 to terminate."
    assert [(names(one.victims), one.cost) for one in told.forgone] == [(["b", "c"], cost_of(5, 2))]


def test_a_group_is_told_the_same_before_and_after_what_was_decided_against(later):
    objects = [
        node("n1", cpu="4"),
        node("n2", cpu="4"),
        low("a", "n1", cpu="3"),
        low("b", "n2", 1, cpu="2"),
        low("c", "n2", cpu="1"),
        gang(minimum=1, priority=HIGH),
        *pods(1, cpu="4", group="g1", priority=HIGH),
    ]
    before = Driver(*objects).engine.explain(URGENT).making_room
    driver = Driver(*objects)
    driver.decide()
    driver = later(driver, *objects, preemptor=GroupRef(URGENT, "uid-g1", "default-scheduler"))
    told = driver.engine.explain(URGENT).making_room
    assert (told.victims, told.cost, told.forgone) == (before.victims, before.cost, before.forgone)
    assert told.forgone


def test_a_pod_is_told_who_leaves_for_it_why_and_what_else_would_have_done(later):
    objects = [*nodes(2, cpu="1"), low("a", "n1"), low("b", "n2", 5), pod("urgent", cpu="1", priority=HIGH)]
    driver = Driver(*objects)
    driver.decide()
    driver = later(driver, *objects, preemptor=PodRef(NAMESPACE, "urgent", "", "default-scheduler"))
    told = driver.engine.explain_pod("uid-urgent").making_room
    assert told.is_under_way
    assert (names(told.victims), told.cost) == (["a"], cost_of(0, 1))
    (forgone,) = told.forgone
    assert (names(forgone.victims), forgone.cost, forgone.node) == (["b"], cost_of(5, 1), "n2")


def two_trainings():
    """Two gangs of four pods, each of which goes as a whole and fills four nodes."""
    for name, first, priority in (("a", 1, 0), ("b", 5, 5)):
        yield gang(name, minimum=4, priority=priority, disruption_mode=WHOLE)
        for number in range(first, first + 4):
            yield low(f"{name}{number}", f"n{number}", priority, group=name)


def test_who_goes_as_one_is_one_choice_on_however_many_nodes():
    driver = Driver(*nodes(8, cpu="1"), *two_trainings(), pod("urgent", cpu="1", priority=HIGH))
    told = driver.engine.explain_pod("uid-urgent").making_room
    assert names(told.victims) == ["a1", "a2", "a3", "a4"]
    assert [names(one.victims) for one in told.forgone] == [["b5", "b6", "b7", "b8"]]


def test_to_evict_the_same_and_more_is_no_alternative():
    driver = Driver(*nodes(8, cpu="1"), *two_trainings(), gang(minimum=3, priority=HIGH))
    driver.see(*pods(3, cpu="1", group="g1", priority=HIGH))
    told = driver.engine.explain(URGENT).making_room
    assert names(told.victims) == ["a1", "a2", "a3", "a4"]
    assert [names(one.victims) for one in told.forgone] == [["b5", "b6", "b7", "b8"]]


def test_asking_changes_nothing(later):
    driver = group_preempting(later)
    records = driver.engine._knowledge.pods.values()
    driver.engine.explain(URGENT)
    before = [(r.pod, r.evicted_for, r.nominated, r.node) for r in records]
    driver.engine.explain(URGENT)
    assert [(r.pod, r.evicted_for, r.nominated, r.node) for r in records] == before
    assert driver.bind(after=400.0) == {}


def test_others_that_wait_are_told_for_whom_room_is_held(later):
    driver = group_preempting(later)
    held = (ReservedCapacity(URGENT, HIGH, 2),)
    assert driver.engine.explain_pod("uid-other").reserved == held
    driver.see(gang("late", minimum=1, priority=1), pod("late-1", cpu="1", group="late", priority=1))
    assert driver.engine.explain(GroupKey(NAMESPACE, "late")).reserved == held
    assert driver.engine.explain(URGENT).reserved == ()


def test_who_matters_more_is_not_told_of_room_that_it_may_take(later):
    driver = group_preempting(later)
    driver.see(pod("above", cpu="9", priority=HIGH + 1))
    assert driver.engine.explain_pod("uid-above").reserved == ()


def test_victims_are_told_for_whom_they_leave(later):
    driver = group_preempting(later)
    assert driver.engine.explain_pod("uid-a1").preemptor == f"podgroup {NAMESPACE}/g1, priority {HIGH}"
    assert driver.engine.explain_pod("uid-b").preemptor == ""


def test_a_victim_whose_preemptor_is_gone_is_told_what_its_mark_says():
    driver = group_preempting(restarted)
    driver.lose(gang(priority=HIGH), *pods(2, cpu="1", group="g1", priority=HIGH), pod("other"))
    driver.decide()
    told = driver.engine.explain_pod("uid-a1").preemptor
    assert told == f"podgroup {NAMESPACE}/g1, which does not wait for it any more"
