"""Limits and expected durations that Jobs set for their pods."""

import math

import pytest

from posse.engine.groups.annotations import EXPECTED_DURATION
from posse.engine.keys import GroupKey
from posse.engine.queue.run_history import LEAST_RUNS
from posse.engine.queue.run_times import RunTimeSource
from posse.model.job import JobRunTime, JobRunTimeSpec, JobRunTimeStatus
from posse.model.meta import ObjectMeta, OwnerReference
from posse.model.timestamps import format_timestamp
from tests.support.builders import NAMESPACE, changed, gang, nodes, pod, pods
from tests.support.engine_driver import Driver
from tests.unit.engine.queue.test_policies import driver_with, running, wait_for_reservation


def job(name="j1", *, limit=None, started=None, annotations=None, cron_job=""):
    owners = (OwnerReference(kind="CronJob", name=cron_job, uid=cron_job),) if cron_job else ()
    return JobRunTime(
        metadata=ObjectMeta(
            name=name,
            namespace=NAMESPACE,
            uid=f"uid-{name}",
            annotations=annotations or {},
            owner_references=owners,
        ),
        spec=JobRunTimeSpec(active_deadline_seconds=limit),
        status=JobRunTimeStatus(start_time=format_timestamp(started) if started is not None else ""),
    )


def of_job(one, name="j1"):
    owner = OwnerReference(api_version="batch/v1", kind="Job", name=name, uid=f"uid-{name}", controller=True)
    return changed(one, metadata={"owner_references": (owner,)})


def expected(driver, name="g1"):
    return driver.engine.explain(GroupKey(NAMESPACE, name)).run_time


def test_the_limit_of_a_job_counts_from_the_start_of_the_job():
    driver = Driver(*nodes(1), gang(minimum=2), *map(of_job, pods(2, cpu="999", group="g1")))
    driver.decide()
    assert expected(driver).source is RunTimeSource.UNKNOWN
    driver.see(job(limit=600))
    assert (expected(driver).limit, expected(driver).deadline) == (600.0, math.inf)
    begun = driver.now
    driver.see(job(limit=600, started=begun))
    driver.decide(after=200.0)
    found = expected(driver)
    assert (found.limit, found.deadline, found.source) == (400.0, begun + 600.0, RunTimeSource.LIMIT)
    driver.decide(after=1_000.0)
    assert expected(driver).limit == 0.0


def test_the_shorter_of_both_limits_counts_and_every_pod_needs_one():
    first, second = pods(2, cpu="999", group="g1")
    limited = changed(first, spec={"active_deadline_seconds": 60})
    driver = Driver(*nodes(1), job(limit=600), gang(minimum=2), of_job(limited), of_job(second))
    assert expected(driver).limit == 600.0
    driver = Driver(*nodes(1), job(limit=600), gang(minimum=2), of_job(limited), second)
    assert expected(driver).limit == math.inf


def test_a_job_that_is_gone_limits_nothing():
    driver = Driver(*nodes(1), job(limit=600), gang(minimum=1), of_job(pod("p", cpu="999", group="g1")))
    driver.lose(job(limit=600))
    assert expected(driver).limit == math.inf


@pytest.mark.parametrize("limit", [-1, 2**62, 11 * 365 * 86400])
def test_a_limit_of_centuries_or_below_zero_is_none(limit):
    driver = Driver(*nodes(1), job(limit=limit), gang(minimum=1), of_job(pod("p", cpu="999", group="g1")))
    driver.decide()
    assert (expected(driver).limit, expected(driver).source) == (math.inf, RunTimeSource.UNKNOWN)


def test_a_start_time_that_is_no_time_leaves_the_limit_alone():
    broken = changed(job(limit=600), status={"start_time": "yesterday"})
    driver = Driver(*nodes(1), broken, gang(minimum=1), of_job(pod("p", cpu="999", group="g1")))
    assert (expected(driver).limit, expected(driver).deadline) == (600.0, math.inf)


def test_the_annotation_of_a_job_counts_after_those_of_group_and_pods():
    stated = job(annotations={EXPECTED_DURATION: "2h"})
    one = of_job(pod("p", cpu="999", group="g1"))
    driver = Driver(*nodes(1), stated, gang(minimum=1), one)
    assert (expected(driver).usual, expected(driver).source) == (7200.0, RunTimeSource.STATED)
    own = changed(one, metadata={"annotations": {EXPECTED_DURATION: "1h"}})
    driver = Driver(*nodes(1), stated, gang(minimum=1), own)
    assert expected(driver).usual == 3600.0


def test_a_job_with_a_limit_passes_a_reservation_that_begins_after_it():
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    running(driver, "long", "2h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    wait_for_reservation(driver, "backfill")
    driver.see(job("slow", limit=3 * 3600), of_job(pod("slow", cpu="1"), "slow"))
    assert driver.bind() == {}
    driver.see(job("quick", limit=3600), of_job(pod("quick", cpu="1"), "quick"))
    assert list(driver.bind()) == ["quick"]


def test_a_job_whose_limit_is_lowered_passes_then():
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    running(driver, "long", "2h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    wait_for_reservation(driver, "backfill")
    driver.see(job(limit=3 * 3600), of_job(pod("slow", cpu="1")))
    assert driver.bind() == {}
    driver.see(job(limit=3600))
    assert list(driver.bind(after=30.0)) == ["slow"]


@pytest.mark.parametrize("before", [None, job()], ids=["seen after its pod", "without a limit before"])
def test_a_limit_that_is_seen_late_counts_at_once(before):
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    running(driver, "long", "2h", cpu="1")
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    wait_for_reservation(driver, "backfill")
    driver.see(*(one for one in (before, of_job(pod("quick", cpu="1"))) if one is not None))
    assert driver.bind() == {}
    driver.see(job(limit=3600))
    assert list(driver.bind(after=30.0)) == ["quick"]


def test_a_reservation_follows_the_limit_of_a_job_that_runs():
    driver = driver_with("backfill", *nodes(2, cpu="1"))
    begun = driver.now
    one = of_job(pod("runs", cpu="1"))
    driver.see(job(limit=7200, started=begun), one)
    driver.confirm(one, on=driver.bind()["runs"])
    driver.see(gang(minimum=2), *pods(2, cpu="1", group="g1"))
    driver.decide()
    guard = driver.engine._knowledge.starvation_guard
    assert [found.begins for found in guard.reservations] == [begun + 7200]
    driver.see(job(limit=3600, started=begun))
    driver.decide(after=1.0)
    assert [found.begins for found in guard.reservations] == [begun + 3600]


def test_a_job_without_pods_changes_nothing():
    driver = driver_with("backfill", *nodes(1, cpu="1"))
    changes = driver.engine._knowledge.state.changes
    driver.see(job(limit=60))
    driver.see(job(limit=120))
    driver.decide()
    assert driver.engine._knowledge.state.changes == changes


def test_pods_of_jobs_are_forgotten_with_the_pods():
    driver = driver_with("backfill", *nodes(1, cpu="1"))
    one = of_job(pod("p", cpu="1"))
    driver.see(one)
    driver.lose(one)
    assert driver.engine._knowledge.run_times.jobs._pods == {}


def test_runs_of_a_cron_job_say_more_than_those_of_the_namespace():
    driver = Driver(*nodes(1))
    for owner, seconds in (("nightly", 60.0), ("weekly", 6000.0)):
        for number in range(LEAST_RUNS):
            name = f"{owner}-{number}"
            one = of_job(pod(name), name)
            driver.see(job(name, cron_job=owner), one)
            bound = driver.bind()
            driver.now += seconds
            driver.lose(changed(one, spec={"node_name": bound[name]}))
            driver.decide()
    driver.see(job("next", cron_job="nightly"), of_job(pod("next"), "next"))
    knowledge = driver.engine._knowledge
    found = knowledge.run_times.of_pod(knowledge.pods["uid-next"])
    assert (found.usual, found.basis) == (60.0, "3 runs of equal pods of CronJob/nightly")
