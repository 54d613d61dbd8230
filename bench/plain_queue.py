"""A plain event simulation of a queue of gangs: best fit on equal nodes, without the engine.

Nodes that are equally full are equal to best fit, and something has to choose among them. `python -m
bench.plain_queue` draws that choice at random, to show how far the waits of one trace depend on it.
"""

import argparse
import heapq
import math
import random
from collections.abc import Sequence
from pathlib import Path

from bench.trace_scenarios import SCENARIOS, TRACES, work
from posse.simulation.jobs import TracedJob
from posse.simulation.record import LARGE_GPUS


def mean_waits(jobs: Sequence[TracedJob], free: list[int], seed: int, *, blocks: bool) -> tuple[float, float]:
    """Mean waits in hours of all jobs, and of large gangs. `blocks`: the head of the queue holds up all others."""
    draw = random.Random(seed)
    ends: list[tuple[float, int, list[int], int]] = []
    queue: list[TracedJob] = []
    found: list[tuple[TracedJob, float]] = []
    coming = list(reversed(jobs))
    while coming or queue:
        now = min(coming[-1].submit if coming else math.inf, ends[0][0] if ends else math.inf)
        while ends and ends[0][0] <= now:
            _, _, nodes, gpus = heapq.heappop(ends)
            for node in nodes:
                free[node] += gpus
        while coming and coming[-1].submit <= now:
            queue.append(coming.pop())
        left, refused = list[TracedJob](), set[tuple[int, int]]()
        for job in queue:
            shape = (job.pods, job.gpus_per_pod)
            nodes = [] if shape in refused or (blocks and refused) else best_fit(free, job, draw)
            if not nodes:
                refused.add(shape)
                left.append(job)
                continue
            for node in nodes:
                free[node] -= job.gpus_per_pod
            heapq.heappush(ends, (now + job.duration, len(found), nodes, job.gpus_per_pod))
            found.append((job, now - job.submit))
        queue = left
    large = [wait for job, wait in found if job.gpus > LARGE_GPUS]
    return sum(wait for _, wait in found) / len(found) / 3600, sum(large) / max(1, len(large)) / 3600


def best_fit(free: Sequence[int], job: TracedJob, draw: random.Random) -> list[int]:
    """A node for each pod, the fullest first; none if they do not all fit. Pods do not share a node."""
    fitting = sorted(
        (gpus, draw.random(), node) for node, gpus in enumerate(free) if gpus >= job.gpus_per_pod
    )
    return [node for _, _, node in fitting[: job.pods]] if len(fitting) >= job.pods else []


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.plain_queue", description=__doc__)
    parser.add_argument("names", nargs="*", default=["V-tight", "V-over"])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--greedy", action="store_true", help="Let anything that fits pass.")
    parser.add_argument("--traces", type=Path, default=TRACES)
    given = parser.parse_args()
    for name in given.names:
        scenario = SCENARIOS[name]
        found = work(scenario, given.traces)[1]
        drawn = [
            mean_waits(found.jobs, [scenario.gpus] * len(found.nodes), seed, blocks=not given.greedy)
            for seed in range(given.draws)
        ]
        for what, values in zip(("all jobs", "large gangs"), zip(*drawn, strict=True), strict=True):
            print(
                f"{name}: {what}: {min(values):.2f} to {max(values):.2f}, mean {sum(values) / len(values):.2f}"
            )


if __name__ == "__main__":
    main()
