"""One shape, one contender: everything waits, the lease is handed over, and what happens until the last pod is bound is measured."""

import asyncio
import time
from dataclasses import dataclass

from bench.cluster.api import GROUPS, PODS, Api, at_once
from bench.cluster.baton import hand_over, hold
from bench.cluster.contenders import Contender, usage
from bench.cluster.shapes import NAMESPACE, Json, Shape, node, pod
from tools.control_plane.plane import ControlPlane
from tools.control_plane.program import Program

_MOST_SECONDS = 600.0
_WARM_UP_SECONDS = 6.0
_MOST_WARM_UP_SECONDS = 300.0
_AT_REST = 0.15
"""Share of a core; who uses less has taken in all of the work, and waits for the lease."""


@dataclass(frozen=True, slots=True)
class Result:
    contender: str
    shape: Shape
    bound: int
    seconds: float
    latencies: tuple[float, ...]
    """Of each pod, from the start of the race, in ascending order."""
    cpu_seconds: float
    cpu_before: float
    """CPU seconds to start, and to take in the work."""
    most_memory: int

    @property
    def rate(self) -> float:
        return self.bound / self.seconds if self.seconds else 0.0

    @property
    def cpu_per_pod(self) -> float:
        return self.cpu_seconds / max(self.bound, 1)

    def latency(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(len(self.latencies) * share))]


async def furnish(api: Api, nodes: int) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})

    async def make(number: int) -> None:
        await api.create("/api/v1/nodes", node(number))

    await at_once(make, range(nodes))


async def raw_limit(api: Api, count: int, nodes: int) -> tuple[float, float]:
    """How many pods a client without any scheduler creates, and how many it binds, per second."""
    names = [f"raw-{number}" for number in range(count)]

    async def make(name: str) -> None:
        spare = pod(name)
        spare["spec"]["schedulerName"] = "nobody"
        await api.create(PODS, spare)

    async def bind(numbered: tuple[int, str]) -> None:
        number, name = numbered
        await api.bind(name, f"node-{number % nodes:05}")

    creating = await at_once(make, names)
    binding = await at_once(bind, enumerate(names))
    await clear(api)
    return count / creating, count / binding


async def race(api: Api, plane: ControlPlane, shape: Shape, contender: Contender) -> Result:
    await hold(api, contender.lease)
    await _submit(api, shape)
    program = contender.start(plane)
    try:
        await _warm_up(program)
        result = await _measure(api, shape, contender, program)
    finally:
        program.stop()
    await clear(api)
    return result


async def _warm_up(program: Program) -> None:
    """Let it read what there is to do. How long that takes does not count, for either of them."""
    await asyncio.sleep(_WARM_UP_SECONDS)
    deadline = time.monotonic() + _MOST_WARM_UP_SECONDS
    before, after = 0.0, usage(program).cpu_seconds
    while after - before > _AT_REST and time.monotonic() < deadline:
        await asyncio.sleep(1.0)
        before, after = after, usage(program).cpu_seconds


async def _measure(api: Api, shape: Shape, contender: Contender, program: Program) -> Result:
    bound: dict[str, float] = {}
    watching = asyncio.create_task(api.note_bound(shape.pod_count, bound))
    before = usage(program)
    started = await hand_over(api, contender.lease)
    await _wait(watching, program)
    after = usage(program)
    ended = max(bound.values(), default=time.time())
    return Result(
        contender.name,
        shape,
        len(bound),
        ended - started,
        tuple(sorted(moment - started for moment in bound.values())),
        after.cpu_seconds - before.cpu_seconds,
        before.cpu_seconds,
        after.most_memory,
    )


async def _wait(watching: asyncio.Task[None], program: Program) -> None:
    """Until all are bound, or for as long as anybody would; ProgramEndedError if the contender does not last that long."""
    deadline = time.monotonic() + _MOST_SECONDS
    while not watching.done() and time.monotonic() < deadline:
        if not program.is_running:
            raise program.failure("ended in the middle of its race")
        await asyncio.wait([watching], timeout=1.0)
    if watching.done():
        watching.result()
    else:
        watching.cancel()


async def _submit(api: Api, shape: Shape) -> None:
    async def make_group(group: Json) -> None:
        await api.create(GROUPS, group)

    async def make_pod(one: Json) -> None:
        await api.create(PODS, one)

    await at_once(make_group, shape.groups())
    await at_once(make_pod, shape.pods())


async def clear(api: Api) -> None:
    """Take everything away again. Nobody else is there to let go of groups that are protected."""

    async def remove_pod(name: str) -> None:
        await api.delete(f"{PODS}/{name}")

    async def remove_group(name: str) -> None:
        await api.patch(f"{GROUPS}/{name}", {"metadata": {"finalizers": None}})
        await api.delete(f"{GROUPS}/{name}")

    await at_once(remove_pod, await api.names(PODS))
    await at_once(remove_group, await api.names(GROUPS))
