"""Queue policies: dated reservations, what may pass them, and what comes first."""

from dataclasses import replace

import pytest

from posse.engine.groups.annotations import EXPECTED_DURATION
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.preemption.marks import PREEMPTION, mark_by_operator
from posse.engine.queue.backlog import MAX_UNSCHEDULABLE_SECONDS
from posse.engine.queue.policies import LARGE_SHARE, OVERTAKEN_SECONDS
from posse.engine.queue.starvation_guard import PATIENCE_SECONDS as UNDATED_PATIENCE_SECONDS
from posse.engine.queue.starvation_guard import RESERVATION_SECONDS
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.model.meta import Condition
from posse.model.pod import PodCondition
from posse.model.timestamps import format_timestamp
from tests.support.builders import NAMESPACE, changed, gang, nodes, pod, pods
from tests.support.engine_driver import Driver, evicted

HOUR = 3600


def driver_with(policy, *objects):
    profile = replace(DEFAULT_PROFILE, queue_policy=policy)
    return Driver(*objects, options=EngineOptions({"default-scheduler": profile}))


def lasting(one, text):
    return changed(one, metadata={"annotations": {EXPECTED_DURATION: text}})


def running(driver, name, text, **spec):
    """Let a pod start now that says how long it runs."""
    one = lasting(pod(name, **spec), text)
    driver.see(one)
    node = driver.bind()[name]
    driver.confirm(one, on=node)
    return changed(one, spec={"node_name": node})


def reservations(driver):
    return driver.engine._knowledge.starvation_guard.reservations


def wait_for_reservation(driver, policy):
    """Let a gang that takes the whole cluster be refused for as long as its policy asks."""
    driver.decide()
    if policy == "shortest-expected":
        driver.decide(after=max(OVERTAKEN_SECONDS * LARGE_SHARE * LARGE_SHARE, MAX_UNSCHEDULABLE_SECONDS))


@pytest.mark.parametrize("policy", ["backfill", "shortest-expected"])
def test_a_refused_gang_gets_nodes_and_a_time(policy):
    driver = driver_with(policy, *nodes(2, cpu="1"))
    running(driver, "long", "2h", cpu="1")
    begun = driver.now
    running(driver, "short", "1h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    wait_for_reservation(driver, policy)
    (found,) = reservations(driver)
    assert found.key == GroupKey(NAMESPACE, "g1")
    assert found.begins == begun + 2 * HOUR
    assert found.shares == ()


@pytest.mark.parametrize("policy", ["backfill", "shortest-expected"])
def test_what_ends_before_passes_and_what_does_not_waits(policy):
    driver = driver_with(policy, *nodes(2, cpu="1"))
    running(driver, "long", "2h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    wait_for_reservation(driver, policy)
    driver.see(lasting(pod("too-long", cpu="1"), "3h"), pod("unknown", cpu="1"))
    assert driver.bind() == {}
    driver.see(lasting(pod("in-time", cpu="1"), "1h"))
    assert list(driver.bind()) == ["in-time"]


def test_what_does_not_touch_the_reserved_nodes_passes():
    driver = driver_with("backfill", *nodes(2, cpu="3"))
    running(driver, "long", "2h", cpu="3")
    driver.see(gang(minimum=2), *pods(2, cpu="2", group="g1"))
    driver.decide()
    driver.see(pod("beside", cpu="1"))
    assert list(driver.bind()) == ["beside"]
    driver.see(pod("upon", cpu="1"))
    assert driver.bind() == {}


def test_a_gang_starts_when_its_reservation_begins():
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    long = running(driver, "long", "2h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    short = running(driver, "short", "1h", cpu="1")
    driver.see(lasting(pod("second", cpu="1"), "90m"))
    driver.lose(short)
    assert driver.bind(after=HOUR) == {}
    driver.lose(long)
    assert sorted(driver.bind(after=HOUR)) == ["p1", "p2"]
    assert reservations(driver) == []


def test_several_reservations_are_kept_apart():
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    running(driver, "one", "1h", cpu="1")
    running(driver, "two", "2h", cpu="1")
    for number in (1, 2):
        driver.see(gang(f"g{number}", 1), pod(f"m{number}", cpu="1", group=f"g{number}"))
        driver.decide()
    assert [one.begins - driver.now for one in reservations(driver)] == [HOUR, 2 * HOUR]
    assert len({int(one.rows[0]) for one in reservations(driver)}) == 2


def test_a_job_that_runs_beyond_its_expectation_moves_the_reservation_and_is_not_ended():
    driver = driver_with("backfill", *nodes(1, cpu="1"))
    running(driver, "late", "1h", cpu="1")
    driver.see(gang(minimum=1), pod("m", cpu="1", group="g1"))
    driver.decide()
    begins = reservations(driver)[0].begins
    assert evicted(driver.decide(after=HOUR + 60)) == []
    assert reservations(driver)[0].begins > begins


def test_where_nothing_is_known_the_reservation_is_undated_and_lapses():
    driver = driver_with("backfill", *nodes(4, cpu="1"), *(pod(f"s{i}", cpu="1", on=f"n{i}") for i in (1, 2)))
    driver.see(gang(minimum=4), *pods(4, cpu="1", group="g1"))
    driver.decide()
    passer_by = pod("passer-by")
    driver.see(passer_by)
    driver.bind()
    driver.lose(passer_by)
    driver.decide(after=60.0)
    assert [one.is_dated for one in reservations(driver)] == [False]
    driver.decide(after=300.0)
    assert reservations(driver) == []


@pytest.mark.parametrize("run_time", ["5h", "unknown"])
def test_no_reservation_without_a_date_takes_what_was_reserved_before(run_time):
    driver = driver_with("backfill", *nodes(4, cpu="1"))
    for number in (1, 2):
        running(driver, f"r{number}", "2h", cpu="1")
    driver.see(gang(minimum=4), *(lasting(one, "3h") for one in pods(4, cpu="1", group="g1")))
    driver.decide()
    driver.see(gang("behind", 1), lasting(pod("b1", cpu="1", group="behind"), run_time))
    driver.decide(after=60.0)
    running(driver, "passes", "30m", cpu="1")
    driver.decide(after=UNDATED_PATIENCE_SECONDS + 1)
    assert [one.key.name for one in reservations(driver)] == ["g1"]


def test_where_nothing_is_known_small_gangs_get_a_reservation_without_a_date():
    blocks = [pod(f"s{i}", cpu="100", on=f"n{i}") for i in (1, 2)]
    driver = driver_with("shortest-expected", *nodes(2, cpu="100"), *blocks)
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    driver.see(pod("passer-by"))
    driver.bind()
    driver.decide(after=UNDATED_PATIENCE_SECONDS)
    assert [one.is_dated for one in reservations(driver)] == [False]


def test_priority_passes_every_reservation():
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    running(driver, "long", "2h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    driver.see(pod("urgent", cpu="1", priority=5))
    assert list(driver.bind()) == ["urgent"]


def test_the_least_work_comes_first():
    driver = driver_with("shortest-expected", *nodes(200, cpu="2"))
    blocks = [running(driver, f"block-{number}", "1h", cpu="2") for number in range(200)]
    driver.see(lasting(pod("long", cpu="2"), "10h"), lasting(pod("half", cpu="1"), "15h"))
    driver.see(gang(minimum=2), *(lasting(one, "4h") for one in pods(2, cpu="2", group="g1")))
    driver.see(lasting(pod("shortest", cpu="2"), "1h"))
    driver.decide()
    driver.lose(blocks[0])
    assert list(driver.bind(after=60)) == ["shortest"]
    driver.lose(blocks[1])
    assert list(driver.bind(after=60)) == ["half"]
    driver.lose(*blocks[2:4])
    assert sorted(driver.bind(after=60)) == ["p1", "p2"]


@pytest.mark.parametrize(("cpu", "reserved"), [("1", 0), ("3", 1)])
def test_small_gangs_find_room_by_themselves_until_they_have_waited_long(cpu, reserved):
    driver = driver_with("shortest-expected", *nodes(2, cpu="100"))
    for number in (1, 2):
        running(driver, f"r{number}", "60h", cpu="100")
    driver.see(gang(minimum=2), *pods(2, cpu=cpu, group="g1"))
    driver.decide()
    assert len(reservations(driver)) == reserved
    driver.decide(after=OVERTAKEN_SECONDS)
    assert len(reservations(driver)) == 1


def test_capacity_is_held_for_no_longer_than_a_gang_has_waited_times_its_share():
    driver = driver_with("shortest-expected", *nodes(40, cpu="1"))
    for number in range(39):
        running(driver, f"r{number}", "20h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    # Half of it is free, and would be held for 20 hours: it is held after w hours if (20 - w) / 2 <= w / 20.
    driver.decide(after=18 * HOUR)
    assert reservations(driver) == []
    driver.decide(after=HOUR)
    assert [one.key.name for one in reservations(driver)] == ["g1"]


@pytest.mark.parametrize(
    ("limits", "passes"), [({}, []), ({"active_deadline_seconds": 10 * HOUR}, ["lasts"])]
)
def test_for_a_very_large_gang_more_is_held_than_the_nodes_it_needs(limits, passes):
    driver = driver_with("shortest-expected", *nodes(4, cpu="4"))
    for number in (1, 2):
        running(driver, f"short-{number}", "2h", cpu="3")
    for number in (1, 2):
        running(driver, f"long-{number}", "10h", cpu="3", **limits)
    driver.see(gang(minimum=2), *pods(2, cpu="4", group="g1"))
    driver.decide()
    driver.decide(after=OVERTAKEN_SECONDS * (LARGE_SHARE / 0.5) ** 2)
    (found,) = reservations(driver)
    assert found.begins - driver.now < 2 * HOUR
    driver.see(lasting(pod("lasts", cpu="1"), "5h"))
    assert list(driver.bind()) == passes
    driver.see(lasting(pod("ends-before", cpu="1"), "1h"))
    assert list(driver.bind()) == ["ends-before"]


def test_a_gang_for_which_nothing_is_held_yet_gets_no_reservation_without_a_date():
    driver = driver_with("shortest-expected", *nodes(40, cpu="1"))
    for number in range(38):
        running(driver, f"r{number}", "20h", cpu="1")
    driver.see(gang(minimum=3), *pods(3, cpu="1", group="g1"))
    driver.decide()
    running(driver, "passes", "10h", cpu="1")
    driver.decide(after=2 * UNDATED_PATIENCE_SECONDS)
    driver.decide(after=2.0)
    assert reservations(driver) == []


def test_an_entry_is_overtaken_for_a_bounded_time():
    driver = driver_with("shortest-expected", *nodes(1, cpu="1"))
    current = running(driver, "first", "1h", cpu="1")
    driver.see(lasting(pod("longest", cpu="1"), "900h"))
    started_after = None
    begun = driver.now
    for number in range(80):
        following = lasting(pod(f"s{number}", cpu="1"), "1h")
        driver.see(following)
        driver.decide()
        driver.lose(current)
        bound = driver.bind(after=HOUR)
        if "longest" in bound:
            started_after = driver.now - begun
            break
        name = next(iter(bound))
        current = changed(lasting(pod(name, cpu="1"), "1h"), spec={"node_name": bound[name]})
    assert started_after is not None
    assert started_after <= OVERTAKEN_SECONDS + 2 * HOUR


def test_a_clock_that_jumps_back_breaks_nothing():
    driver = driver_with("shortest-expected", *nodes(2, cpu="1"))
    running(driver, "long", "2h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    driver.decide(after=-500.0)
    driver.see(lasting(pod("in-time", cpu="1"), "1h"))
    assert list(driver.bind()) == ["in-time"]
    driver.decide(after=1e7)


def test_where_nothing_is_refused_no_ends_are_expected():
    driver = driver_with("backfill", *nodes(2, cpu="2"))
    running(driver, "long", "2h", cpu="1")
    ends = driver.engine._knowledge.lookahead._ends
    assert ends._ends.tolist() == []
    driver.see(gang(minimum=5), *pods(5, cpu="1", group="g1"))
    driver.decide()
    assert ends._ends.tolist() == [driver.now + 2 * HOUR]


def test_a_reservation_without_a_date_lapses_though_a_dated_one_lost_its_node():
    spare = nodes(3, cpu="1")
    driver = driver_with("backfill", *spare)
    short = running(driver, "short", "2h", cpu="1")
    running(driver, "long", "3h", cpu="1")
    driver.see(gang(minimum=3), *pods(3, cpu="1", group="g1"))
    driver.decide()
    assert reservations(driver)[0].is_dated
    driver.lose(spare[2])
    driver.lose(short)
    driver.see(pod("unknown", cpu="1"))
    assert list(driver.bind()) == ["unknown"]
    driver.see(spare[2])
    driver.decide(after=UNDATED_PATIENCE_SECONDS)
    (found,) = reservations(driver)
    assert not found.is_dated
    assert found.until == driver.now + RESERVATION_SECONDS


def named(prefix, number, group):
    return [pod(f"{prefix}{index}", cpu="1", group=group) for index in range(1, number + 1)]


@pytest.mark.parametrize("policy", ["priority-fifo", "backfill"])
def test_what_an_operator_stops_for_a_group_does_not_come_back_before_it(policy):
    """Two gangs are stopped for a third. Their pods leave one gang after the other, and are created again."""
    driver = driver_with(policy, *nodes(4, cpu="1"))
    stopped = {}
    for name in ("a", "b"):
        own = named(name, 2, group=name)
        driver.see(gang(name, 2), *own)
        bound = driver.bind()
        stopped[name] = [changed(one, spec={"node_name": bound[one.metadata.name]}) for one in own]
        driver.see(*stopped[name])
    driver.see(gang("x", 4), *named("x", 4, group="x"))
    assert driver.bind() == {}
    mark = mark_by_operator(GroupKey(NAMESPACE, "x"))
    condition = PodCondition(type="DisruptionTarget", status="True", reason=PREEMPTION, message=mark)
    driver.see(
        *(changed(one, status={"conditions": (condition,)}) for own in stopped.values() for one in own)
    )
    driver.lose(*stopped["a"])
    driver.see(*named("again-a", 2, group="a"))
    assert driver.bind(after=1.0) == {}
    driver.lose(*stopped["b"])
    driver.see(*named("again-b", 2, group="b"))
    assert sorted(driver.bind(after=1.0)) == ["x1", "x2", "x3", "x4"]


def test_beside_a_gang_that_is_held_much_another_is_promised_nothing_it_cannot_get():
    driver = driver_with("shortest-expected", *nodes(4, cpu="4"))
    for number in (1, 2):
        running(driver, f"short-{number}", "2h", cpu="3")
    for number in (1, 2):
        running(driver, f"long-{number}", "10h", cpu="3")
    driver.see(gang(minimum=2), *pods(2, cpu="4", group="g1"))
    driver.decide()
    driver.decide(after=OVERTAKEN_SECONDS * (LARGE_SHARE / 0.5) ** 2)
    driver.see(gang("second", 2), *(lasting(one, "20h") for one in named("s", 2, group="second")))
    driver.decide()
    driver.decide(after=60.0)
    assert all(one.begins > driver.now for one in reservations(driver))


def test_a_dated_reservation_ends_with_its_gang():
    """Though another gang is refused at the same time, so that as many wait as before."""
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    running(driver, "long", "5h", cpu="1")
    members = pods(2, cpu="1", group="g1")
    driver.see(gang(minimum=2), *members)
    driver.decide()
    driver.see(gang("second", 1), *named("s", 1, group="second"))
    driver.decide()
    driver.lose(*members)
    assert list(driver.bind(after=60.0)) == ["s1"]


def test_a_scheduler_that_starts_knows_since_when_a_gang_was_refused():
    """Otherwise each restart would begin its wait, and what it may hold, from nothing."""
    driver = driver_with("shortest-expected", *nodes(2, cpu="1"))
    since = format_timestamp(driver.now - 5 * HOUR)
    refusal = Condition(
        type="PodGroupInitiallyScheduled", status="False", reason="Unschedulable", last_transition_time=since
    )
    waits = changed(
        gang(minimum=2), metadata={"creation_timestamp": since}, status={"conditions": (refusal,)}
    )
    running(driver, "long", "1h", cpu="1")
    driver.see(waits, *pods(2, cpu="1", group="g1"))
    driver.decide()
    (found,) = reservations(driver)
    assert found.key == GroupKey(NAMESPACE, "g1")
    late = changed(waits, metadata={"creation_timestamp": format_timestamp(driver.now), "name": "late"})
    entry = driver.engine._knowledge.backlog.get(GroupKey(NAMESPACE, "g1"))
    assert entry.refused_since == driver.now - 5 * HOUR
    driver.see(late, *pods(2, first=5, cpu="1", group="late"))
    driver.decide()
    assert driver.engine._knowledge.backlog.get(GroupKey(NAMESPACE, "late")).refused_since == driver.now
