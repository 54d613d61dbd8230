"""The barest client: many writes at once, and a watch that notes when pods are bound. What it can do is the limit for all."""

import asyncio
import base64
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import yaml

from bench.cluster.shapes import NAMESPACE, Json

_AT_ONCE = 64
_CONFLICT = 409

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
    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def get(self, path: str) -> Json:
        async with self._session.get(path) as answer:
            answer.raise_for_status()
            return dict(await answer.json())

    async def create(self, path: str, obj: Json) -> None:
        async with self._session.post(path, json=obj) as answer:
            if answer.status != _CONFLICT:
                await _ensure(answer)

    async def replace(self, path: str, obj: Json) -> bool:
        """Whether nobody else was faster."""
        async with self._session.put(path, json=obj) as answer:
            if answer.status == _CONFLICT:
                return False
            await _ensure(answer)
            return True

    async def patch(self, path: str, body: Json) -> None:
        headers = {"Content-Type": "application/merge-patch+json"}
        async with self._session.patch(path, json=body, headers=headers) as answer:
            await _ensure(answer)

    async def delete(self, path: str) -> None:
        async with self._session.delete(path, json={"gracePeriodSeconds": 0}) as answer:
            await _ensure(answer)

    async def bind(self, name: str, node: str) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        async with self._session.post(f"{PODS}/{name}/binding", json=binding) as answer:
            await _ensure(answer)

    async def names(self, path: str) -> list[str]:
        listing = await self.get(path)
        return [obj["metadata"]["name"] for obj in listing["items"]]

    async def note_bound(self, expected: int, bound: dict[str, float]) -> None:
        """Note when each pod is seen on a node, by a clock for durations, until all are."""
        version = (await self.get(f"{PODS}?limit=1"))["metadata"]["resourceVersion"]
        while len(bound) < expected:
            query = f"{PODS}?watch=1&resourceVersion={version}&timeoutSeconds=3600"
            async with self._session.get(query, timeout=aiohttp.ClientTimeout()) as answer:
                async for line in answer.content:
                    pod = _CHANGES.decode(line).object
                    version = pod.metadata.resourceVersion
                    if pod.spec.nodeName:
                        bound.setdefault(pod.metadata.name, time.monotonic())
                    if len(bound) >= expected:
                        return


async def _ensure(answer: aiohttp.ClientResponse) -> None:
    body = await answer.read()
    if answer.status >= 400:
        message = f"{answer.method} {answer.url.path}: {answer.status} {body[:300].decode(errors='replace')}"
        raise RuntimeError(message)


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
    server, context, token = _access(kubeconfig)
    connector = aiohttp.TCPConnector(ssl=context, limit=0)
    headers = {"Authorization": f"Bearer {token}"}
    # Lines of a watch are whole objects.
    async with aiohttp.ClientSession(
        server, connector=connector, headers=headers, read_bufsize=2**20
    ) as session:
        yield Api(session)


def _access(kubeconfig: Path) -> tuple[str, ssl.SSLContext, str]:
    document = yaml.safe_load(kubeconfig.read_text())
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return cluster["server"], ssl.create_default_context(cadata=authority), user["token"]
