"""The bare client: many writes at once, and a watch that notes when pods are bound."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from bench.cluster.shapes import NAMESPACE, Json
from posse.client.connection import JSON, Call, Connection
from posse.client.credentials import find_credentials
from posse.kinds.machinery.errors import CONFLICT, ApiError
from posse.transport.patches import MERGE_PATCH

_AT_ONCE = 64
_WATCH_SECONDS = 3600

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
GROUPS = f"/apis/scheduling.k8s.io/v1beta1/namespaces/{NAMESPACE}/podgroups"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


class _Metadata(msgspec.Struct):
    name: str = ""
    resourceVersion: str = ""  # noqa: N815 - as the API spells it


class _Spec(msgspec.Struct):
    nodeName: str = ""  # noqa: N815 - as the API spells it


class _Pod(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Change(msgspec.Struct):
    type: str
    object: _Pod


_CHANGES = msgspec.json.Decoder(_Change)


class Api:
    """Over the wires that Posse itself uses: what they can do is the most that it could reach."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        return dict(msgspec.json.decode(await self._connection.ask(Call("GET", path, query))))

    async def create(self, path: str, obj: Json) -> None:
        """What is there already is as good."""
        try:
            await self._send("POST", path, obj)
        except ApiError as error:
            if error.code != CONFLICT:
                raise

    async def replace(self, path: str, obj: Json) -> bool:
        """Whether no other client was faster."""
        try:
            await self._send("PUT", path, obj)
        except ApiError as error:
            if error.code != CONFLICT:
                raise
            return False
        return True

    async def patch(self, path: str, body: Json) -> None:
        await self._send("PATCH", path, body, MERGE_PATCH)

    async def delete(self, path: str) -> None:
        await self._send("DELETE", path, {"gracePeriodSeconds": 0})

    async def bind(self, name: str, node: str) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        await self._send("POST", f"{PODS}/{name}/binding", binding)

    async def names(self, path: str) -> list[str]:
        listing = await self.get(path)
        return [obj["metadata"]["name"] for obj in listing["items"]]

    async def note_bound(self, expected: int, bound: dict[str, float]) -> None:
        """Note when each pod is seen on a node, by the clock on the wall, until all are."""
        version = (await self.get(PODS, {"limit": "1"}))["metadata"]["resourceVersion"]
        while len(bound) < expected:
            query = {"watch": "1", "resourceVersion": version, "timeoutSeconds": str(_WATCH_SECONDS)}
            async with self._connection.stream(Call("GET", PODS, query), _WATCH_SECONDS) as stream:
                async for lines in stream.lines():
                    for pod in [_CHANGES.decode(line).object for line in lines if line]:
                        version = pod.metadata.resourceVersion
                        if pod.spec.nodeName:
                            bound.setdefault(pod.metadata.name, time.time())
                    if len(bound) >= expected:
                        return

    async def _send(self, method: str, path: str, body: Json, content_type: str = JSON) -> None:
        await self._connection.ask(Call(method, path, None, msgspec.json.encode(body), content_type))


async def at_once(make: Callable[[Any], Awaitable[None]], items: Iterable[Any]) -> float:
    """Do it with every item, many at a time; returns how many seconds that took."""
    started = time.monotonic()
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:
            await make(item)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(_AT_ONCE):
            tasks.create_task(work())
    return time.monotonic() - started


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Api]:
    connection = Connection(find_credentials(kubeconfig, None))
    await connection.open()
    try:
        yield Api(connection)
    finally:
        await connection.close()
