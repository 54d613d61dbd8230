"""The embedded cluster end to end: from creating pods through the API service until all bindings are on disk.

Nodes are not simulated, so only the scheduler writes. Every create is answered after it is durable.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench import inputs
from bench.measuring import Figure
from posse.apiserver.committer import Committer
from posse.apiserver.local import LocalTransport
from posse.apiserver.service import ApiService
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import NAMESPACE, NODE, POD, POD_GROUP
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.store.store import Store

NODES = 5_000
PODS = 10_000
CREATORS = 100
"""Creates under way at once; a client with fewer would mostly wait."""


def measure() -> list[Figure]:
    single = [inputs.pod(ordinal) for ordinal in range(PODS)]
    groups, members = inputs.gangs(1000, 3)
    return [
        Figure(
            "create to bound, 10,000 single pods, 5,000 nodes", _rate([], single), "pods/s", "", "182 pods/s"
        ),
        Figure(
            "create to bound, 1,000 gangs of 3, 5,000 nodes",
            _rate(groups, members),
            "pods/s",
            "",
            "122 pods/s",
        ),
    ]


def _rate(groups: Sequence[msgspec.Struct], pods: Sequence[msgspec.Struct]) -> float:
    bodies = [(POD_GROUP, _body(group)) for group in groups] + [(POD, _body(pod)) for pod in pods]
    with tempfile.TemporaryDirectory(prefix="posse-bench-") as folder:
        return len(pods) / asyncio.run(_seconds(Path(folder), bodies, len(pods)))


async def _seconds(folder: Path, bodies: list[tuple[Kind, Json]], pod_count: int) -> float:
    store = Store.open(folder)
    committer = Committer(store)
    transport = LocalTransport(ApiService(store, time.time, random.Random(1)), committer)
    try:
        await transport.create(NAMESPACE, "", {"metadata": {"name": inputs.NAMESPACE}})
        await asyncio.gather(*(transport.create(NODE, "", _body(node)) for node in inputs.nodes(NODES)))
        scheduler = SchedulerLoop(transport, Engine(EngineOptions()), time.time)
        running = asyncio.create_task(scheduler.run())
        started = time.perf_counter()
        all_bound = asyncio.create_task(_wait_bound(transport, pod_count))
        await _create_all(transport, bodies)
        await all_bound
        seconds = time.perf_counter() - started
        running.cancel()
        await asyncio.wait([running])
        return seconds
    finally:
        await committer.close()
        store.close()


async def _create_all(transport: LocalTransport, bodies: list[tuple[Kind, Json]]) -> None:
    waiting = iter(bodies)

    async def create() -> None:
        for kind, body in waiting:
            await transport.create(kind, inputs.NAMESPACE, body)

    await asyncio.gather(*(create() for _ in range(CREATORS)))


async def _wait_bound(transport: LocalTransport, count: int) -> None:
    """Return when that many pods were seen on nodes, as any client would see it."""
    bound: set[str] = set()
    async for batch in transport.watch(POD, "0", inputs.NAMESPACE):
        bound.update(event.obj["metadata"]["name"] for event in batch if event.obj["spec"].get("nodeName"))
        if len(bound) == count:
            return


def _body(obj: msgspec.Struct) -> Json:
    body: Json = msgspec.to_builtins(obj)
    for given_by_server in ("uid", "creationTimestamp"):
        body["metadata"].pop(given_by_server, None)
    return body
