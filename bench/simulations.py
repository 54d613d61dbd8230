"""How fast simulations are: 100,000 single pods on 1,000 nodes, and 60 days of a real trace, if it is there."""

import gc
import math
import resource
import time

import numpy as np

from bench.measuring import Figure
from bench.trace_scenarios import SCENARIOS, TRACES, work
from posse.simulation.clusters import equal_nodes
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import named_policies
from posse.simulation.virtual_cluster import VirtualCluster

JOBS, NODES = 100_000, 1_000


def single_pods(count: int) -> list[TracedJob]:
    """Two arrive in a second and run for an hour, on average: 90 % of the GPUs are in use."""
    draw = np.random.default_rng(1)
    arrivals, runs = draw.exponential(0.5, count).cumsum(), draw.exponential(3600.0, count) + 1.0
    return [
        TracedJob(f"job-{number}", float(arrival), float(run), 1, 1)
        for number, (arrival, run) in enumerate(zip(arrivals, runs, strict=True))
    ]


def measure() -> list[Figure]:
    """Seconds of the processor, beside the memory that was added meanwhile."""
    plain, nodes = named_policies()["posse"], equal_nodes(NODES, 8)
    found = [
        _measured(f"{count:,} single pods, {NODES:,} nodes", VirtualCluster(nodes, single_pods(count), plain))
        for count in (JOBS // 10, JOBS)
    ]
    if (TRACES / SCENARIOS["I4"].trace).exists():
        work_of_i4 = work(SCENARIOS["I4"], TRACES)[1]
        found += [
            _measured(
                f"trace I4: 60 days, 80 nodes, {name}",
                VirtualCluster(work_of_i4.nodes, work_of_i4.jobs, named_policies()[name]),
            )
            for name in ("fifo", "greedy")
        ]
    return found


def _measured(name: str, cluster: VirtualCluster) -> Figure:
    gc.collect()
    before, begin = _peak(), time.process_time()
    record = cluster.run()
    seconds = time.process_time() - begin
    assert not any(math.isnan(one.start) for one in record.jobs), "a job never started"  # noqa: S101
    return Figure(name, seconds, "s", f"{_peak() - before} MiB added")


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
