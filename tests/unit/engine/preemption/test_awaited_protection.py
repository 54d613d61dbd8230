"""What waits for the end of a minimum run time is told until when, and is tried at that moment."""

import math

import pytest

from posse.engine.groups.annotations import MINIMUM_RUN_TIME
from posse.engine.keys import GroupKey
from posse.engine.reporting.messages import preemption_text
from posse.engine.verdict import NoVictims, VictimsProtected
from posse.model.timestamps import format_timestamp
from tests.support.builders import NAMESPACE, changed, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver, evicted, group_reports, pod_reports

HIGH, MINUTE = 100, 60.0
LOW = GroupKey(NAMESPACE, "low")


def protected(name, minimum, text, **spec):
    return changed(gang(name, minimum, **spec), metadata={"annotations": {MINIMUM_RUN_TIME: text}})


def start(driver, name, count, text, first=1, **spec):
    """A protected gang that the engine has put on nodes."""
    members = pods(count, first, cpu="1", group=name)
    driver.see(protected(name, count, text, **spec), *members)
    bound = driver.bind()
    there = [changed(one, spec={"node_name": bound[one.metadata.name]}) for one in members]
    driver.see(*there)
    driver.decide()
    return there


def want(driver, count=2, name="high", **spec):
    driver.see(
        gang(name, count, priority=HIGH, **spec),
        *pods(count, 50, cpu="1", group=name, priority=HIGH),
    )


def messages(decisions, name="high"):
    return [message for who, _, _, message in group_reports(decisions) if who == name]


def progress(driver, name="high"):
    return driver.engine.explain(GroupKey(NAMESPACE, name)).making_room.progress


def clock(seconds):
    return format_timestamp(math.ceil(seconds)).split("T")[1]


def until_woken(driver, most=100):
    """Decide whenever the engine asks for it and nothing else happens, until it evicts."""
    for _ in range(most):
        driver.now = driver.engine.next_wakeup()
        if gone := evicted(driver.decide()):
            return gone
    return []


def test_a_gang_is_told_which_group_is_protected_and_until_when():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 2, "10m")
    end = driver.now + 10 * MINUTE
    want(driver)
    [message] = messages(driver.decide(after=5.5))
    text = f"podgroup {NAMESPACE}/low is protected by its minimum run time until {clock(end)}."
    assert message.endswith(f" pod group preemption: {text}")
    assert progress(driver) == VictimsProtected(LOW, end)


def test_it_is_tried_at_that_moment_and_not_before():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 2, "97s")
    end = driver.now + 97
    want(driver)
    assert evicted(driver.decide()) == []
    assert len(until_woken(driver)) == 2
    assert driver.now == end


def test_the_message_stays_while_it_is_true():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 2, "10m")
    want(driver)
    driver.decide()
    driver.see(node("n9", cpu="0"))
    told = [message for _ in range(30) for message in messages(driver.decide(after=10))]
    assert [one for one in told if "is protected" not in one] == []
    assert len({one.partition("pod group preemption")[2] for one in told}) <= 1


def test_the_message_is_renewed_when_the_group_is_protected_longer():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 2, "10m")
    end = driver.now + 20 * MINUTE
    want(driver)
    driver.decide()
    driver.see(protected("low", 2, "20m"))
    told = [message for _ in range(10) for message in messages(driver.decide(after=1))]
    assert told[-1].endswith(f"until {clock(end)}.")


def test_the_start_that_the_pod_states_counts_as_soon_as_it_is_seen():
    driver = Driver(*nodes(2, cpu="1"))
    there = start(driver, "low", 2, "10m")
    want(driver)
    driver.decide()
    started = driver.now + 30
    driver.see(*(changed(one, status={"start_time": format_timestamp(started)}) for one in there))
    driver.decide(after=31)
    assert progress(driver) == VictimsProtected(LOW, started + 10 * MINUTE)


def test_of_several_groups_it_is_the_one_that_is_free_first():
    driver = Driver(*nodes(4, cpu="1"))
    start(driver, "late", 2, "30m", first=1)
    start(driver, "soon", 2, "10m", first=11)
    end = driver.now + 10 * MINUTE
    want(driver)
    driver.decide()
    assert progress(driver) == VictimsProtected(GroupKey(NAMESPACE, "soon"), end)


def test_what_needs_several_groups_waits_for_the_last():
    driver = Driver(*nodes(4, cpu="1"))
    start(driver, "soon", 2, "10m", first=1)
    start(driver, "late", 2, "30m", first=11)
    end = driver.now + 30 * MINUTE
    want(driver, 4)
    driver.decide()
    told = progress(driver)
    assert told == VictimsProtected(GroupKey(NAMESPACE, "late"), end, others=1)
    assert preemption_text(told) == (
        f"podgroup {NAMESPACE}/late and 1 other group are protected by their minimum run times, "
        f"the last until {clock(end)}."
    )


def test_a_group_that_would_not_help_is_not_named():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 1, "10m")
    driver.see(pod("rival", cpu="1", priority=HIGH, on="n1" if "n1" not in on(driver) else "n2"))
    driver.decide()
    want(driver)
    [message] = messages(driver.decide())
    assert "protected" not in message
    assert progress(driver) in {None, NoVictims()}


def on(driver):
    return {record.node for record in driver.engine._knowledge.pods.values()}


def test_a_group_of_equal_priority_is_not_named():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 2, "10m", priority=HIGH)
    want(driver)
    [message] = messages(driver.decide())
    assert "protected" not in message


def test_a_gang_that_never_preempts_is_not_told():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 2, "10m")
    want(driver, preemption_policy="Never")
    [message] = messages(driver.decide())
    assert "protected" not in message


def test_a_pod_is_told_too_and_evicts_at_that_moment():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 2, "10m")
    end = driver.now + 10 * MINUTE
    driver.see(pod("urgent", cpu="1", priority=HIGH))
    _, message = pod_reports(driver.decide())["urgent"]
    assert message.endswith(
        f" Podgroup {NAMESPACE}/low is protected by its minimum run time until {clock(end)}."
    )
    assert len(until_woken(driver)) == 1
    assert driver.now == end


def test_the_list_of_groups_names_it():
    driver = Driver(*nodes(2, cpu="1"))
    start(driver, "low", 2, "10m")
    want(driver)
    driver.decide()
    found = {now.key.name: now.awaited_protection for now in driver.engine.situations()}
    assert found == {"low": None, "high": VictimsProtected(LOW, driver.now + 10 * MINUTE)}


@pytest.mark.parametrize("groups", [1, 5])
def test_asking_changes_nothing(groups):
    driver = Driver(*nodes(2 * groups, cpu="1"))
    for number in range(groups):
        start(driver, f"low{number}", 2, f"{number + 1}m", first=1 + 10 * number)
    want(driver, 2 * groups)
    driver.decide()
    knowledge = driver.engine._knowledge
    ranks = {uid: record.effective_priority for uid, record in knowledge.pods.items()}
    usage = {one: knowledge.state.usage.requested(one).copy() for one in knowledge.state.usage.priorities()}
    stamp = knowledge.stamp
    assert progress(driver).others == groups - 1
    assert knowledge.stamp == stamp
    assert {uid: record.effective_priority for uid, record in knowledge.pods.items()} == ranks
    assert knowledge.state.usage.priorities() == list(usage)
    assert all((knowledge.state.usage.requested(one) == was).all() for one, was in usage.items())
