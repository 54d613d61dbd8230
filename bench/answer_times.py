"""How long `posse up` takes to answer while it creates, decides and runs the pods of one large Job.

A client asks for a namespace every few milliseconds, over HTTPS, until all pods have a node.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.http_servers import Client, Server, client_of, embedded
from posse.kinds.machinery.kind import Json

PODS_PER_NODE = 100
PAUSE_SECONDS = 0.01
ASK_SECONDS = 2.0
PATIENCE_SECONDS = 3600.0
JOBS = "/apis/batch/v1/namespaces/default/jobs"
NAMESPACE = "/api/v1/namespaces/default"
_BOUND = re.compile(r'^scheduler_schedule_attempts_total\{[^}]*result="scheduled"[^}]*\} (\S+)', re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-answers", description=__doc__)
    parser.add_argument("--pods", type=int, default=50_000)
    chosen = parser.parse_args()
    pods, nodes = chosen.pods, -(-chosen.pods // PODS_PER_NODE)
    with (
        tempfile.TemporaryDirectory(prefix="posse-bench-") as folder,
        embedded(Path(folder), nodes, fsync=True) as server,
    ):
        times, seconds = asyncio.run(_measured(server, pods))
        share = server.ran_share()
    _say(
        f"{pods:,} pods on {nodes:,} nodes, {pods / seconds:,.0f} pods/s; {_summary(times)}; "
        f"its main thread ran for {share:.0%} of the time that it wanted to"
    )


async def _measured(server: Server, pods: int) -> tuple[list[float], float]:
    """Seconds of each answer, and until all pods were bound."""
    times: list[float] = []
    async with client_of(server) as client:
        asking = asyncio.create_task(_ask(client, times))
        started = time.perf_counter()
        await client.send("POST", JOBS, _job(pods))
        while (bound := await _bound(client)) < pods:
            _say(f"{time.perf_counter() - started:6.1f} s, {bound:,} bound; {_summary(times)}")
            if time.perf_counter() - started > PATIENCE_SECONDS:
                raise RuntimeError(f"only {bound} of {pods} pods were bound")
            await asyncio.sleep(ASK_SECONDS)
        asking.cancel()
    return times, time.perf_counter() - started


async def _ask(client: Client, times: list[float]) -> None:
    while True:
        started = time.perf_counter()
        await client.send("GET", NAMESPACE)
        times.append(time.perf_counter() - started)
        await asyncio.sleep(PAUSE_SECONDS)


async def _bound(client: Client) -> int:
    found = _BOUND.findall((await client.send("GET", "/metrics")).decode())
    return int(sum(map(float, found)))


def _summary(times: Sequence[float]) -> str:
    ordered = sorted(times) or [0.0]
    median, late = ordered[len(ordered) // 2], ordered[int(0.99 * (len(ordered) - 1))]
    return f"answers: median {median * 1000:.0f} ms, p99 {late * 1000:.0f} ms, longest {ordered[-1] * 1000:.0f} ms"


def _job(pods: int) -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "10m"}}}
    template = {
        "metadata": {"annotations": {"posse.dev/run-seconds": "100000"}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    spec = {"parallelism": pods, "completions": pods, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "large"}, "spec": spec}


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
