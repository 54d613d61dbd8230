"""The place of an entry in the queue follows the policy in force."""

from dataclasses import replace

import pytest

from posse.engine.explain.queue_order import Ahead
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.queue.policies import OVERTAKEN_SECONDS
from posse.engine.queue.run_times import EXPECTED_DURATION
from posse.engine.rules.registry import DEFAULT_PROFILE
from tests.support.builders import NAMESPACE, changed, gang, node, pod
from tests.support.engine_driver import Driver

LONG, SHORT = GroupKey(NAMESPACE, "long"), GroupKey(NAMESPACE, "short")


def lasting(one, text):
    return changed(one, metadata={"annotations": {EXPECTED_DURATION: text}})


def a_queue(policy, *more):
    """A full node, for which an old gang of two days waits, a young one of an hour, and a pod of a minute."""
    profile = replace(DEFAULT_PROFILE, queue_policy=policy)
    driver = Driver(node("n1", cpu="100"), options=EngineOptions({"default-scheduler": profile}))
    driver.see(pod("runs", cpu="100", on="n1"))
    for name, text, year in (("long", "48h", 2024), ("short", "1h", 2025)):
        own = [pod(f"{name}{n}", cpu="1", group=name, created=f"{year}-01-01T00:00:00Z") for n in (1, 2)]
        driver.see(lasting(gang(name, minimum=2), text), *own)
    driver.see(lasting(pod("alone", cpu="1", created="2025-06-01T00:00:00Z"), "1m"), *more)
    driver.decide()
    return driver


def ahead(driver, key):
    return driver.engine.explain(key).ahead


@pytest.mark.parametrize("policy", ["priority-fifo", "backfill"])
def test_by_age_the_oldest_is_first(policy):
    driver = a_queue(policy)
    assert ahead(driver, LONG) == Ahead(pods=0, groups=0)
    assert ahead(driver, SHORT) == Ahead(pods=0, groups=1)
    assert driver.engine.explain_pod("uid-alone").ahead == Ahead(pods=0, groups=2)


def test_by_run_time_the_least_expected_work_is_first():
    driver = a_queue("shortest-expected")
    assert driver.engine.explain_pod("uid-alone").ahead == Ahead(pods=0, groups=0, rivals=2)
    assert ahead(driver, SHORT) == Ahead(pods=1, groups=0, rivals=2)
    assert ahead(driver, LONG) == Ahead(pods=1, groups=1, rivals=2)


def test_what_has_been_refused_for_long_is_first_whatever_it_works():
    driver = a_queue("shortest-expected")
    driver.see(lasting(gang("late", minimum=1), "1m"), pod("late1", cpu="1", group="late"))
    driver.decide(after=OVERTAKEN_SECONDS)
    assert ahead(driver, LONG) == Ahead(pods=0, groups=0, rivals=3)
    assert ahead(driver, GroupKey(NAMESPACE, "late")) == Ahead(pods=1, groups=2, rivals=3)


def test_who_has_no_rival_of_its_priority_has_a_place_that_is_certain():
    urgent = [pod(f"u{n}", cpu="1", group="urgent", priority=9) for n in (1, 2)]
    driver = a_queue("shortest-expected", gang("urgent", minimum=2, priority=9), *urgent)
    assert ahead(driver, GroupKey(NAMESPACE, "urgent")) == Ahead(pods=0, groups=0)
    assert ahead(driver, SHORT) == Ahead(pods=1, groups=1, rivals=2)
