"""The embedded cluster end to end: from creating pods through the API service until all bindings are on disk.

Nodes are not simulated, so only the scheduler writes. Every create is answered after it is durable.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
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
from posse.recording.recorder import Recorder
from posse.recording.segments import RecordingHeader
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.store.store import Store
from posse.version import VERSION

NODES = 5_000
PODS = 10_000
RECORDED_RUNS = 3
RECORDED_BYTES = 1 << 30
HEADER = RecordingHeader(VERSION, {}, asks=True, effort=0.0)
CREATORS = 100
"""Creates under way at once; a client with fewer would mostly wait."""


@dataclass(frozen=True, slots=True)
class Seconds:
    wall: float
    processor: float


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
        _cost_of_recording(groups, members),
    ]


def _cost_of_recording(groups: Sequence[msgspec.Struct], pods: Sequence[msgspec.Struct]) -> Figure:
    """What `--record` adds to the processor time of the whole process; the best of some runs in turns."""
    plain, recorded = [], []
    for _ in range(RECORDED_RUNS):
        plain.append(_run(groups, pods).processor)
        recorded.append(_run(groups, pods, is_recorded=True).processor)
    without, with_it = min(plain), min(recorded)
    detail = f"{without / len(pods) * 1e6:.0f} µs per pod without, {with_it / len(pods) * 1e6:.0f} with it"
    return Figure("what a recording adds, 1,000 gangs of 3", (with_it / without - 1) * 100, "%", detail)


def _rate(groups: Sequence[msgspec.Struct], pods: Sequence[msgspec.Struct]) -> float:
    return len(pods) / _run(groups, pods).wall


def _run(
    groups: Sequence[msgspec.Struct], pods: Sequence[msgspec.Struct], is_recorded: bool = False
) -> Seconds:
    bodies = [(POD_GROUP, _body(group)) for group in groups] + [(POD, _body(pod)) for pod in pods]
    with tempfile.TemporaryDirectory(prefix="posse-bench-") as folder:
        return asyncio.run(_seconds(Path(folder), bodies, len(pods), is_recorded))


async def _seconds(
    folder: Path, bodies: list[tuple[Kind, Json]], pod_count: int, is_recorded: bool
) -> Seconds:
    store = Store.open(folder)
    recorder = Recorder(folder / "recording", HEADER, RECORDED_BYTES) if is_recorded else None
    committer = Committer(store)
    transport = LocalTransport(ApiService(store, time.time, random.Random(1)), committer)
    try:
        await transport.create(NAMESPACE, "", {"metadata": {"name": inputs.NAMESPACE}})
        await asyncio.gather(*(transport.create(NODE, "", _body(node)) for node in inputs.nodes(NODES)))
        scheduler = SchedulerLoop(transport, Engine(EngineOptions()), time.time, recorder=recorder)
        running = asyncio.create_task(scheduler.run())
        started, used = time.perf_counter(), time.process_time()
        all_bound = asyncio.create_task(_wait_bound(transport, pod_count))
        await _create_all(transport, bodies)
        await all_bound
        seconds = Seconds(time.perf_counter() - started, time.process_time() - used)
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
