"""Forecasts follow what the queue policy does: its order, and its reservations. Held against what then happens."""

from dataclasses import replace

import pytest

from posse.engine.forecast.calibration import Calibration
from posse.engine.forecast.forecast import forecasts_of
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.queue.run_times import EXPECTED_DURATION
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.solver.rollouts import estimate_starts
from tests.support.builders import changed, gang, nodes, pod
from tests.support.engine_driver import Driver

HOUR = 3600.0
BEGIN = 1000.0


class SmallCluster:
    """Nodes with one CPU each, and jobs that run for exactly as long as they state."""

    def __init__(self, policy, node_count):
        profile = replace(DEFAULT_PROFILE, queue_policy=policy)
        options = EngineOptions({"default-scheduler": profile})
        self.driver = Driver(*nodes(node_count, cpu="1"), options=options)
        self._pods = {}
        self._hours = {}
        self._ends = {}
        """When each pod ends that runs."""
        self.starts = {}
        """In hours from the beginning, by job."""

    def submit(self, name, hours, size=1):
        """A gang; a pod without a group if its size is 1."""
        stated = {"annotations": {EXPECTED_DURATION: f"{hours * 60:.0f}m"}}
        group = name if size > 1 else ""
        if group:
            self.driver.see(changed(gang(name, minimum=size), metadata=stated))
        for number in range(size):
            one = changed(pod(f"{name}-{number}", cpu="1", group=group or None), metadata=stated)
            self._pods[one.metadata.name], self._hours[one.metadata.name] = one, hours
            self.driver.see(one)
        self._decide()

    def _decide(self):
        for name, node in self.driver.bind().items():
            self.driver.confirm(self._pods[name], on=node)
            self._pods[name] = changed(self._pods[name], spec={"node_name": node})
            self._ends[name] = self.driver.now + self._hours[name] * HOUR
            self.starts.setdefault(name.rpartition("-")[0], (self.driver.now - BEGIN) / HOUR)

    def play(self, until=1000.0):
        """Decide whenever something ends, and when the engine wants to."""
        while self._ends and self.driver.now < BEGIN + until * HOUR:
            ends = min(self._ends.values())
            self.driver.now = min(ends, max(self.driver.engine.next_wakeup() or ends, self.driver.now + 60.0))
            for name in [name for name, end in self._ends.items() if end <= self.driver.now]:
                self.driver.lose(self._pods[name])
                del self._ends[name]
            self._decide()

    def question(self):
        builder = self.driver.engine.forecast_builder(self.driver.now)
        for _ in builder.steps():
            pass
        return builder.question()

    def forecasts(self):
        """The middle of the band of each job that waits, in hours from the beginning, and what it waits for."""
        question = self.question()
        estimates = estimate_starts(question.problem)
        found = forecasts_of(question, estimates, Calibration(0.0, 0.0), self.driver.now)
        return {
            _job(name): ((one.earliest - BEGIN) / HOUR, _job(one.waits_for)) for name, one in found.items()
        }

    def reservations(self):
        guard = self.driver.engine._knowledge.starvation_guard
        return {one.key.name: (one.begins - BEGIN) / HOUR for one in guard.reservations}


def _job(named):
    return named.name if isinstance(named, GroupKey) else named.name.removesuffix("-0")


def four_nodes(policy):
    """Two gangs for which capacity is reserved, and a long job that would take it."""
    cluster = SmallCluster(policy, 4)
    for hours in (1, 2, 3, 4):
        cluster.submit(f"runs{hours}", hours)
    cluster.submit("first", 5, size=2)
    cluster.submit("second", 6, size=2)
    cluster.submit("long", 20)
    return cluster


@pytest.mark.parametrize("policy", ["backfill", "shortest-expected"])
def test_forecasts_follow_two_reservations_and_come_true(policy):
    cluster = four_nodes(policy)
    assert cluster.reservations() == pytest.approx({"first": 2.0, "second": 4.0})
    told = cluster.forecasts()
    cluster.play()
    assert {name: hours for name, (hours, _) in told.items()} == pytest.approx(
        {name: cluster.starts[name] for name in told}, abs=0.1
    )
    assert {name: ended for name, (_, ended) in told.items()} == {
        "first": "runs2",
        "second": "runs4",
        "long": "first",
    }


def test_without_reservations_a_gang_waits_longer():
    """Under priority-fifo the long job takes the node that the second gang would need."""
    told = four_nodes("priority-fifo").forecasts()
    assert told["second"][0] > 4.0


def test_what_is_reserved_now_is_part_of_the_question():
    cluster = four_nodes("shortest-expected")
    question = cluster.question()
    assert question.problem.reservations == 2
    named = {_job(question.waiting[one.place]): one.begins / HOUR for one in question.problem.reserved}
    assert named == pytest.approx(cluster.reservations())
    for one in question.problem.reserved:
        assert len(set(one.planned[1])) == 2, "a node for each of its pods"


def test_little_may_stand_idle_for_a_gang_of_a_small_share():
    """Of 60 nodes two are 3 %: it may not hold the first node for the hours until the second is free."""
    cluster = SmallCluster("shortest-expected", 60)
    for number in range(58):
        cluster.submit(f"runs{number}", 100)
    cluster.submit("three", 3)
    cluster.submit("nine", 9)
    cluster.submit("pair", 40, size=2)
    cluster.submit("long", 90)
    told = cluster.forecasts()
    cluster.play(until=110.0)
    assert cluster.starts["long"] == pytest.approx(3.0, abs=0.1)
    assert {name: hours for name, (hours, _) in told.items()} == pytest.approx(
        {name: cluster.starts[name] for name in told}, abs=0.1
    )


def test_what_is_overtaken_for_long_comes_first_in_a_forecast_too():
    """On one of 30 nodes short jobs come before a long one, until that has waited for two days."""
    cluster = SmallCluster("shortest-expected", 30)
    for number in range(29):
        cluster.submit(f"runs{number}", 500)
    cluster.submit("runs", 12)
    cluster.submit("long", 30)
    for number in range(8):
        cluster.submit(f"short{number}", 13)
    told = cluster.forecasts()
    cluster.play()
    assert cluster.starts["long"] == pytest.approx(51.0, abs=0.1)
    assert {name: hours for name, (hours, _) in told.items()} == pytest.approx(
        {name: cluster.starts[name] for name in told}, abs=0.1
    )
