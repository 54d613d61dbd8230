"""Random traces under the yardstick `greedy`: at no moment a job waits that would fit."""

import random

import pytest

from posse.simulation.clusters import equal_nodes
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import named_policies
from posse.simulation.virtual_cluster import VirtualCluster
from tests.support.effort import up_to

NODES, GPUS, JOBS = 6, 8, 60


def drawn_jobs(chance):
    shapes = [
        (chance.choice((1, 1, 1, 2, 3, 5)), chance.choice((1, 2, 3, 4, 8)), chance.expovariate(1 / 900) + 1)
        for _ in range(JOBS)
    ]
    moments = sorted(chance.uniform(0, 7200) for _ in range(JOBS))
    return [
        TracedJob(f"job-{number}", moment, lasts, pods, gpus)
        for number, (moment, (pods, gpus, lasts)) in enumerate(zip(moments, shapes, strict=True))
    ]


def waiting_though_they_fit(nodes, record):
    """Times and names, found by following the record from one moment to the next."""
    free = dict.fromkeys((node.metadata.name for node in nodes), GPUS)
    for moment in sorted({time for one in record.jobs for time in (one.job.submit, one.start, one.end)}):
        for one in record.jobs:
            for node in one.nodes:
                free[node] += one.job.gpus_per_pod * ((one.end == moment) - (one.start == moment))
        for one in record.jobs:
            if one.job.submit <= moment < one.start:
                places = sum(gpus // one.job.gpus_per_pod for gpus in free.values())
                if places >= one.job.pods:
                    yield moment, one.job.name


@pytest.mark.parametrize("seed", range(up_to(20)))
def test_no_job_waits_that_fits(seed):
    nodes = equal_nodes(NODES, GPUS)
    record = VirtualCluster(nodes, drawn_jobs(random.Random(seed)), named_policies()["greedy"]).run()
    assert list(waiting_though_they_fit(nodes, record)) == []
    assert any(one.wait for one in record.jobs)
