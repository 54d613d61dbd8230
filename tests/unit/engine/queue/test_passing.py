"""An attempt, its condition, the renewal of that and explanations speak of the same reservations."""

import pytest

from posse.engine.explain.group_status import State
from posse.engine.explain.preemption import ReservedCapacity
from posse.engine.keys import GroupKey
from tests.support.builders import NAMESPACE, gang, nodes, pod, pods
from tests.support.engine_driver import group_reports, pod_reports
from tests.unit.engine.queue.test_policies import HOUR, driver_with, lasting, running
from tests.unit.engine.queue.test_published_reservation import dated, reader_of

LARGE, PAIR = GroupKey(NAMESPACE, "g1"), GroupKey(NAMESPACE, "pair")
RESERVED = "reserved for pod group test/g1; what is expected to end before it starts may use it"


def reserved_in_six_hours():
    """A driver with one free node of two, which is reserved for a gang that starts in six hours."""
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    running(driver, "long", "6h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    return driver


def pair(text):
    members = [pod(f"pair-{number}", cpu="1", group="pair") for number in (1, 2)]
    return gang("pair", 2), *(lasting(one, text) for one in members)


def told_pair(decisions):
    return [message for name, _, _, message in group_reports(decisions) if name == "pair"]


@pytest.mark.parametrize(("text", "is_held"), [("1h", False), ("7h", True)])
def test_a_gang_is_told_of_the_reservations_that_hold_it_back(text, is_held):
    driver = reserved_in_six_hours()
    driver.see(*pair(text))
    (message,) = told_pair(driver.decide())
    assert (RESERVED in message) == is_held
    told = driver.engine.explain(PAIR)
    assert told.situation.state is State.WAITING
    assert [one.who for one in told.reserved] == ([LARGE] if is_held else [])
    assert (told.situation.reservation is not None and told.situation.reservation.holder == LARGE) == is_held


@pytest.mark.parametrize(("text", "is_held"), [("1h", False), ("7h", True)])
def test_a_pod_is_told_of_the_reservations_that_hold_it_back(text, is_held):
    driver = reserved_in_six_hours()
    driver.see(lasting(pod("wide", cpu="2"), text))
    _, message = pod_reports(driver.decide())["wide"]
    assert (RESERVED in message) == is_held
    told = driver.engine.explain_pod(uid_of(driver, "wide"))
    assert [one.who for one in told.reserved] == ([LARGE] if is_held else [])


@pytest.mark.parametrize("text", ["1h", "7h"])
def test_what_was_told_stays_while_time_goes_by_and_the_cluster_changes(text):
    driver = reserved_in_six_hours()
    driver.see(*pair(text), lasting(pod("wide", cpu="2"), text))
    driver.decide()
    driver.decide(after=20.0)
    for _ in range(10):
        driver.see(*nodes(3, cpu="100m")[2:])
        driver.lose(*nodes(3, cpu="100m")[2:])
        decisions = driver.decide(after=20.0)
        assert (told_pair(decisions), pod_reports(decisions).get("wide")) == ([], None)


def test_equal_pods_of_other_run_times_are_renewed_by_themselves():
    driver = reserved_in_six_hours()
    driver.see(lasting(pod("short", cpu="2"), "1h"), lasting(pod("long-one", cpu="2"), "7h"))
    first = pod_reports(driver.decide())
    assert (RESERVED in first["short"][1], RESERVED in first["long-one"][1]) == (False, True)
    driver.see(*nodes(3, cpu="100m")[2:])
    again = pod_reports(driver.decide(after=1.0)) | pod_reports(driver.decide(after=20.0))
    assert (RESERVED in again["short"][1], RESERVED in again["long-one"][1]) == (False, True)


@pytest.mark.parametrize(("text", "node"), [("1h", "n2"), ("3h", "")])
def test_a_reader_shows_a_single_pod_where_it_would_be_placed(text, node):
    driver, (publication,) = dated()
    reader = reader_of(driver, publication, lasting(pod("single", cpu="1"), text))
    told = reader.engine.explain_pod(uid_of(reader, "single"))
    held = ReservedCapacity(LARGE, 0, 1, is_preempting=False, starts_in=2 * HOUR)
    assert (told.target, told.reserved) == (node, () if node else (held,))


def uid_of(driver, name):
    return next(uid for uid, one in driver.engine._knowledge.pods.items() if one.ref.name == name)


def test_a_gang_that_only_a_reservation_holds_back_is_told_no_change_of_the_cluster():
    """What is added or freed may be reserved as well."""
    driver = reserved_in_six_hours()
    driver.see(gang("small", 1), lasting(pod("s1", cpu="1", group="small"), "7h"))
    driver.decide()
    held = driver.engine.explain(GroupKey(NAMESPACE, "small"))
    assert (held.situation.state, held.remedy_problem) == (State.WAITING, None)
    driver.see(*pair("7h"))
    driver.decide()
    assert driver.engine.explain(PAIR).remedy_problem is not None
