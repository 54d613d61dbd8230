"""How long `posse up` takes to answer while it creates, decides and runs the pods of one large Job.

A client asks for a namespace every few milliseconds, over HTTPS, until all pods have a node. On a machine that
has other work, answers also wait for a CPU: they are shown with that time and without it.
"""

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.http_servers import Client, Server, client_of, embedded, waited_seconds
from posse.kinds.machinery.kind import Json

PODS_PER_NODE = 100
PAUSE_SECONDS = 0.01
ASK_SECONDS = 2.0
PATIENCE_SECONDS = 3600.0
JOBS = "/apis/batch/v1/namespaces/default/jobs"
NAMESPACE = "/api/v1/namespaces/default"
_BOUND = re.compile(r'^scheduler_schedule_attempts_total\{[^}]*result="scheduled"[^}]*\} (\S+)', re.MULTILINE)


class Answer(NamedTuple):
    seconds: float
    waited_seconds: float
    """In which the server or this client wanted to run, and had no CPU."""


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


async def _measured(server: Server, pods: int) -> tuple[list[Answer], float]:
    """Seconds of each answer, and until all pods were bound."""
    times: list[Answer] = []
    async with client_of(server) as client:
        asking = asyncio.create_task(_ask(client, server, times))
        started = time.perf_counter()
        await client.send("POST", JOBS, _job(pods))
        while (bound := await _bound(client)) < pods:
            _say(f"{time.perf_counter() - started:6.1f} s, {bound:,} bound; {_summary(times)}")
            if time.perf_counter() - started > PATIENCE_SECONDS:
                raise RuntimeError(f"only {bound} of {pods} pods were bound")
            await asyncio.sleep(ASK_SECONDS)
        asking.cancel()
    return times, time.perf_counter() - started


async def _ask(client: Client, server: Server, times: list[Answer]) -> None:
    while True:
        started, waited = time.perf_counter(), _waited_seconds(server)
        await client.send("GET", NAMESPACE)
        times.append(Answer(time.perf_counter() - started, _waited_seconds(server) - waited))
        await asyncio.sleep(PAUSE_SECONDS)


async def _bound(client: Client) -> int:
    found = _BOUND.findall((await client.send("GET", "/metrics")).decode())
    return int(sum(map(float, found)))


def _waited_seconds(server: Server) -> float:
    return server.waited_seconds() + waited_seconds(os.getpid())


def _summary(answers: Sequence[Answer]) -> str:
    whole = _percentiles([answer.seconds for answer in answers])
    ran = _percentiles([max(0.0, answer.seconds - answer.waited_seconds) for answer in answers])
    return f"answers: {whole}; without waiting for a CPU: {ran}"


def _percentiles(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds) or [0.0]
    median, late = ordered[len(ordered) // 2], ordered[int(0.99 * (len(ordered) - 1))]
    return f"median {median * 1000:.0f} ms, p99 {late * 1000:.0f} ms, longest {ordered[-1] * 1000:.0f} ms"


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
