"""Runs one shape with one contender: from the moment it gets the Lease until the last pod is bound."""

import asyncio
import time

from bench.cluster.api import GROUPS, PODS, Api, at_once
from bench.cluster.baton import hand_over, hold
from bench.cluster.contenders import Contender, usage
from bench.cluster.device_work import claim_for, claiming, remove_claims
from bench.cluster.results import BareClient, Result
from bench.cluster.shapes import NAMESPACE, Json, Shape, node, node_name, pod
from posse.control_plane.plane import ControlPlane
from posse.control_plane.program import Program

_MAX_SECONDS = 600.0
_WARM_UP_SECONDS = 6.0
_MAX_WARM_UP_SECONDS = 300.0
_AT_REST = 0.15
"""Share of a core: a scheduler that uses less has read all of the work and waits for the lease."""


async def furnish(api: Api, nodes: int) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})

    async def make(number: int) -> None:
        await api.create("/api/v1/nodes", node(number))

    await at_once(make, range(nodes))


async def bare_client(api: Api, count: int, nodes: int) -> BareClient:
    """Create and bind pods without a scheduler, as fast as the API server takes them."""
    names = [f"bare-{number}" for number in range(count)]

    async def make(name: str) -> None:
        spare = pod(name)
        spare["spec"]["schedulerName"] = "nobody"
        await api.create(PODS, spare)

    async def bind(numbered: tuple[int, str]) -> None:
        number, name = numbered
        await api.bind(name, node_name(number % nodes))

    creating = await at_once(make, names)
    binding = await at_once(bind, enumerate(names))
    await clear(api)
    return BareClient(count / creating, count / binding)


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
    """Let it read the work. The time that takes counts for no contender."""
    await asyncio.sleep(_WARM_UP_SECONDS)
    deadline = time.monotonic() + _MAX_WARM_UP_SECONDS
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
        after.max_memory,
    )


async def _wait(watching: asyncio.Task[None], program: Program) -> None:
    """Wait until all pods are bound, but not for ever. ProgramEndedError: the contender ended before."""
    deadline = time.monotonic() + _MAX_SECONDS
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
        await api.create(PODS, claiming(one) if shape.with_devices else one)
        if shape.with_devices:
            await claim_for(api, one["metadata"]["name"])

    await at_once(make_group, shape.groups())
    await at_once(make_pod, shape.pods())


async def clear(api: Api) -> None:
    """Delete everything again. No controller runs that would remove the finalizers of groups."""

    async def remove_pod(name: str) -> None:
        await api.delete(f"{PODS}/{name}")

    async def remove_group(name: str) -> None:
        await api.patch(f"{GROUPS}/{name}", {"metadata": {"finalizers": None}})
        await api.delete(f"{GROUPS}/{name}")

    await at_once(remove_pod, await api.names(PODS))
    await at_once(remove_group, await api.names(GROUPS))
    await remove_claims(api)
