"""Days in which small jobs always want what a whole-node job needs: no job waits beyond the bound."""

import math

from posse.engine.queue.backlog import MAX_UNSCHEDULABLE_SECONDS
from posse.engine.queue.policies import OVERTAKEN_SECONDS
from posse.simulation.clusters import equal_nodes
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import named_policies
from posse.simulation.virtual_cluster import VirtualCluster
from tests.support.effort import PROFILE

HOUR, DAY = 3600.0, 86400.0
LONGEST = 28 * HOUR
GPUS = 4
MONTH = 30
BOUND = OVERTAKEN_SECONDS + MAX_UNSCHEDULABLE_SECONDS + 2 * LONGEST
"""Overtaken for so long at most, tried again this much later, and behind what runs and one reservation."""


def days_of(days):
    """Single GPUs that keep both nodes busy, and every fourth day a whole node or a gang of both."""
    small = [
        TracedJob(f"s{n}", n * 4 * HOUR, LONGEST, 1, 1, user="many", limit=LONGEST) for n in range(6 * days)
    ]
    wide = [
        TracedJob(f"w{n}", n * 4 * DAY + 30 * HOUR, 4 * HOUR, 1 + n % 2, GPUS, user="few", limit=LONGEST)
        for n in range(days // 4)
    ]
    return sorted([*small, *wide], key=lambda job: job.submit)


def waits(policy, days):
    record = VirtualCluster(equal_nodes(2, GPUS), days_of(days), named_policies()[policy]).run()
    assert all(not math.isnan(one.start) for one in record.jobs)
    return [one.wait for one in record.jobs]


def test_no_job_waits_beyond_the_bound():
    assert max(waits("shortest-expected", 8 if PROFILE == "quick" else MONTH)) <= BOUND


def test_without_reservations_a_wide_job_waits_for_weeks():
    assert max(waits("greedy", MONTH)) > 14 * DAY
