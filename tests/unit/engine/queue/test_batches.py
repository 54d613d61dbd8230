"""Jobs that were created together say how long the others of them run."""

from dataclasses import replace

import numpy as np
import pytest

from posse.engine.events import KnownRuns, RunsRemembered
from posse.engine.options import EngineOptions
from posse.engine.queue.batches import MAX_BATCHES, MAX_KEPT, MAX_RUNNING, Batches
from posse.engine.queue.run_history import LEAST_RUNS, RunKind
from posse.engine.rules.registry import DEFAULT_PROFILE
from tests.support.builders import changed, gang, nodes, pod, pods
from tests.support.engine_driver import Driver

NOON = "2026-03-01T12:00:00Z"
SOON_AFTER = "2026-03-01T12:59:59Z"
NEXT_HOUR = "2026-03-01T13:00:00Z"


def driver_that_looks_ahead():
    profile = replace(DEFAULT_PROFILE, queue_policy="shortest-expected")
    return Driver(*nodes(1), options=EngineOptions({"default-scheduler": profile}))


def started(driver, name, **given):
    one = pod(name, **given)
    driver.see(one)
    return changed(one, spec={"node_name": driver.bind_and_confirm(one)[name]})


def run_for(driver, name, seconds, **given):
    one = started(driver, name, **given)
    driver.now += seconds
    driver.lose(one)
    driver.decide()


def expected(driver, name, **given):
    one = pod(name, **given)
    driver.see(one)
    knowledge = driver.engine._knowledge
    return knowledge.run_times.of_pod(knowledge.pods[one.metadata.uid])


def drawn(driver, name, age=0.0):
    """Run times of a pod as forecasts draw them, from the shortest to the longest."""
    knowledge = driver.engine._knowledge
    spread = knowledge.run_times.spread_of_record(knowledge.pods[f"uid-{name}"], age)
    return sorted(set(spread.drawn(age, np.arange(0.0, 1.0, 0.01)).tolist())), spread


def with_earlier_runs(*seconds):
    driver = driver_that_looks_ahead()
    for number, one in enumerate(seconds):
        run_for(driver, f"earlier-{number}", one)
    return driver


def test_a_few_runs_of_a_batch_say_more_than_all_earlier_runs():
    driver = with_earlier_runs(*[60.0] * 10)
    for number in range(LEAST_RUNS - 1):
        run_for(driver, f"first-{number}", 5000.0, created=NOON)
    assert expected(driver, "early", created=SOON_AFTER).usual == 60.0
    run_for(driver, "last", 5000.0, created=NOON)
    found = expected(driver, "next", created=SOON_AFTER)
    assert (found.usual, found.basis) == (5000.0, "3 runs of equal pods created in the same hour")
    assert expected(driver, "later", created=NEXT_HOUR).usual == 60.0
    assert drawn(driver, "next")[0] == [5000.0], "forecasts use the same runs"
    assert drawn(driver, "later")[0] == [60.0, 5000.0]


def test_a_run_longer_than_all_of_its_batch_is_compared_with_earlier_ones():
    driver = with_earlier_runs(60.0, 120.0, 6000.0)
    for number in range(LEAST_RUNS):
        run_for(driver, f"first-{number}", 500.0, created=NOON)
    started(driver, "long", created=NOON)
    assert drawn(driver, "long", age=400.0)[0] == [500.0]
    assert drawn(driver, "long", age=600.0)[0] == [6000.0]


def test_while_few_have_ended_the_others_take_at_least_as_long_as_the_first_has_run():
    driver = with_earlier_runs(60.0, 120.0, 6000.0)
    started(driver, "first", created=NOON)
    started(driver, "second", created=NOON)
    assert expected(driver, "third", created=NOON).usual == 120.0
    driver.decide(after=500.0)
    assert expected(driver, "fourth", created=NOON).usual == 6000.0
    assert expected(driver, "later", created=NEXT_HOUR).usual == 120.0
    assert drawn(driver, "fourth")[0] == [6000.0], "forecasts use the same bound"
    assert drawn(driver, "later")[0] == [60.0, 120.0, 6000.0]


def test_beyond_all_earlier_runs_the_others_take_twice_as_long_as_the_first_has_run():
    driver = with_earlier_runs(60.0, 120.0, 180.0)
    started(driver, "first", created=NOON)
    driver.decide(after=500.0)
    found = expected(driver, "second", created=NOON)
    times, spread = drawn(driver, "second")
    assert found.usual == spread.usual == 1000.0
    assert times[0] == 500.0
    assert times[len(times) // 2] == pytest.approx(1000.0, rel=0.02)


def test_a_job_that_was_deleted_says_nothing_of_its_batch():
    driver = with_earlier_runs(60.0, 120.0, 6000.0)
    first = changed(
        started(driver, "first", created=NOON), metadata={"deletion_timestamp": "2026-03-01T12:30:00Z"}
    )
    driver.see(first)
    driver.now += 500.0
    driver.lose(first)
    driver.decide()
    assert expected(driver, "second", created=NOON).usual == 120.0


def test_with_a_limit_runs_of_that_limit_count():
    driver = driver_that_looks_ahead()
    for number in range(LEAST_RUNS):
        run_for(driver, f"earlier-{number}", 60.0, active_deadline_seconds=9000)
    for number in range(LEAST_RUNS):
        run_for(driver, f"first-{number}", 5000.0, created=NOON)
    assert expected(driver, "second", created=NOON, active_deadline_seconds=9000).usual == 60.0


def test_a_gang_is_one_job_of_its_batch():
    driver = driver_that_looks_ahead()
    members = pods(2, group="g1", created=NOON)
    driver.see(gang("g1", 2), *members)
    driver.bind_and_confirm(*members)
    (batch,) = driver.engine._knowledge.run_times._batches._batches.values()
    assert len(batch.running) == 1


def test_a_pod_that_joins_a_gang_later_does_not_change_when_it_started():
    driver = with_earlier_runs(60.0, 120.0, 6000.0)
    members = pods(2, group="g1", created=NOON)
    driver.see(changed(gang("g1", 1), metadata={"creation_timestamp": NOON}), *members)
    driver.bind_and_confirm(*members)
    driver.decide(after=500.0)
    late = pod("late", group="g1", created=NEXT_HOUR)
    driver.see(late)
    driver.bind_and_confirm(late)
    batches = driver.engine._knowledge.run_times._batches._batches.values()
    running = [one.ref.name for batch in batches for one in batch.running.values() if one.node]
    assert running == ["p1"]


def test_what_has_left_its_node_makes_room_for_others():
    driver = driver_that_looks_ahead()
    for number in range(MAX_RUNNING):
        one = started(driver, f"deleted-{number}", created=NOON)
        driver.see(changed(one, metadata={"deletion_timestamp": "2026-03-01T12:30:00Z"}))
        driver.lose(one)
    started(driver, "other", created=NOON)
    (batch,) = driver.engine._knowledge.run_times._batches._batches.values()
    assert [one.ref.name for one in batch.running.values()] == ["other"]


def test_runs_of_a_batch_outlive_the_scheduler():
    driver = with_earlier_runs(*[60.0] * 10)
    for number in range(LEAST_RUNS):
        run_for(driver, f"first-{number}", 5000.0, created=NOON)
    known = driver.engine.known_runs()
    after = driver_that_looks_ahead()
    after.engine.absorb(RunsRemembered(known))
    assert expected(after, "next", created=SOON_AFTER).usual == 5000.0
    assert expected(after, "later", created=NEXT_HOUR).usual == 60.0
    assert after.engine.known_runs() == known


@pytest.mark.parametrize(
    "known",
    [
        KnownRuns("team", None, 1, (60.0,), created="2026-03-01T12"),
        KnownRuns("team", {"cpu": 1}, 1, (60.0,), created="noon"),
        KnownRuns("team", {"cpu": 1}, 1, (60.0,), 600, created="2026-03-01T12"),
        KnownRuns("team", {"cpu": 1}, 1, (-60.0,), created="2026-03-01T12"),
    ],
)
def test_remembered_batches_that_make_no_sense_are_left_out(known):
    driver = driver_that_looks_ahead()
    driver.engine.absorb(RunsRemembered((known,)))
    assert driver.engine.known_runs() == ()


def test_the_batches_that_changed_last_are_kept():
    batches = Batches()
    for number in range(MAX_KEPT + 10):
        batches.ended(RunKind("one", Template(), 1), f"{number:13}", 1.0)
    kept = batches.known()
    assert (len(kept), kept[-1].created) == (MAX_KEPT, f"{MAX_KEPT + 9:13}")


class Template:
    amounts = ()


def test_memory_is_bounded():
    batches = Batches()
    for number in range(MAX_BATCHES + 10):
        batches.ended(RunKind("one", Template(), 1), f"{number:13}", 1.0)
    assert len(batches._batches) == MAX_BATCHES


def test_a_job_without_a_time_of_creation_belongs_to_no_batch():
    batches, kind = Batches(), RunKind("one", Template(), 1)
    for _ in range(LEAST_RUNS):
        batches.ended(kind, "", 60.0)
    assert batches.precedents(kind, "", 0.0) is None
