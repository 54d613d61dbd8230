"""How fast simulations are: 100,000 single pods on 1,000 nodes, and 60 days of a real trace, if it is there.

`make bench-simulate` runs them; both take more than the rest of `make bench`.
"""

import gc
import math
import resource
import time
from collections.abc import Iterator

import numpy as np

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


def figures() -> Iterator[tuple[str, float, int]]:
    """Each with seconds of the processor, and memory that was added meanwhile, in MiB."""
    plain, nodes = named_policies()["posse"], equal_nodes(NODES, 8)
    for count in (JOBS // 10, JOBS):
        jobs = single_pods(count)
        yield f"{count:,} single pods on {NODES:,} nodes", *_measured(VirtualCluster(nodes, jobs, plain))
    if (TRACES / SCENARIOS["I4"].trace).exists():
        found = work(SCENARIOS["I4"], TRACES)[1]
        for name in ("fifo", "greedy", "posse"):
            cluster = VirtualCluster(found.nodes, found.jobs, named_policies()[name])
            yield f"I4: 60 days on 80 nodes, {name}", *_measured(cluster)


def _measured(cluster: VirtualCluster) -> tuple[float, int]:
    gc.collect()
    before, begin = _peak(), time.process_time()
    record = cluster.run()
    assert not any(math.isnan(one.start) for one in record.jobs), "a job never started"  # noqa: S101
    return time.process_time() - begin, _peak() - before


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    for name, seconds, memory in figures():
        print(f"{name:<48} {seconds:6.1f} s   +{memory} MiB", flush=True)


if __name__ == "__main__":
    main()
