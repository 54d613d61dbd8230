"""The embedded API server beside a real kube-apiserver with etcd, over HTTP: make bench-http.

One client sends the same requests to both, 50 at a time, over TLS. Neither server syncs to disk. Beside the
rate stands the CPU time of the server (for Kubernetes of kube-apiserver and etcd) per request, which other
work on the machine hardly changes. No scheduler looks at the pods.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.http_servers import APPLY, PROTOBUF, Client, Json, Server, client_of, embedded, real
from posse.kinds.wire.writing import write_object

NAMESPACE = "bench"
CONCURRENT = 50
WATCHERS = 50
WATCHED_CREATES = 1_000
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CONFIGS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


@dataclass(frozen=True)
class Measured:
    """What requests took; `cpu` is that of the server."""

    name: str
    requests: int
    seconds: float
    cpu: float

    @property
    def is_one(self) -> bool:
        """Its time counts, not how many there are in a second."""
        return self.requests == 1

    @property
    def per_second(self) -> float:
        return self.requests / self.seconds

    @property
    def cpu_each(self) -> float:
        """In milliseconds."""
        return self.cpu / self.requests * 1000

    @property
    def line(self) -> str:
        took = f"{self.seconds:>9.2f} s" if self.is_one else f"{self.per_second:>11,.0f}"
        return f"{self.name:34} {self.requests:>9,} {took} {self.cpu_each:>7.{0 if self.is_one else 2}f} ms"


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--pods", type=int, default=2_000, help="how many pods are created and bound")
    words.add_argument("--listed", type=int, default=50_000, help="how many pods are listed")
    words.add_argument("--servers", default="posse,kubernetes", help="which servers, in this order")
    options = words.parse_args()
    start = {"posse": embedded, "kubernetes": real}
    for name in options.servers.split(","):
        with tempfile.TemporaryDirectory(prefix="posse-http-") as folder, start[name](Path(folder)) as server:
            print(f"{name:34} {'requests':>9} {'per second':>11} {'CPU each':>10}")
            asyncio.run(_tell_all(server, options.pods, options.listed))
    return 0


async def _tell_all(server: Server, pods: int, listed: int) -> None:
    async for found in measured(server, pods, listed):
        print(found.line, flush=True)


async def measured(server: Server, pods: int, listed: int = 0) -> AsyncIterator[Measured]:
    """Measure one kind of request after the other; the list only if it is to have so many pods."""
    async with client_of(server) as client:
        await client.send("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        await client.send(
            "POST", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", _named("default"), (201, 409)
        )
        names = [f"p{number}" for number in range(pods)]
        encoded = {name: write_object(_pod(f"q{name}")) for name in names}
        objects = {name: msgspec.json.encode(_config(name)) for name in names}
        shapes: list[tuple[str, Callable[[str], Awaitable[bytes]]]] = [
            ("create pods, JSON", lambda name: client.send("POST", PODS, _pod(name))),
            ("create pods, protobuf", lambda name: client.send("POST", PODS, encoded[name], media=PROTOBUF)),
            ("bind pods", lambda name: client.send("POST", f"{PODS}/{name}/binding", _binding(name))),
            ("create ConfigMaps", lambda name: client.send("POST", CONFIGS, objects[name])),
            ("PUT ConfigMaps", lambda name: client.send("PUT", f"{CONFIGS}/{name}", _config(name, "2"))),
            (
                "apply ConfigMaps (server-side)",
                lambda name: client.send(
                    "PATCH",
                    f"{CONFIGS}/{name}?fieldManager=bench&force=true",
                    _config(name, "3"),
                    media=APPLY,
                ),
            ),
        ]
        for name, request in shapes:
            yield await _timed(server, name, request, names)
        yield await _watched(server, client)
        if listed:
            yield await _listed(server, client, listed)


async def _timed(
    server: Server, name: str, request: Callable[[str], Awaitable[bytes]], arguments: Sequence[str]
) -> Measured:
    waiting = iter(arguments)

    async def work() -> None:
        for argument in waiting:
            await request(argument)

    cpu, begun = server.cpu_seconds(), time.monotonic()
    await asyncio.gather(*(work() for _ in range(CONCURRENT)))
    return Measured(name, len(arguments), time.monotonic() - begun, server.cpu_seconds() - cpu)


async def _watched(server: Server, client: Client) -> Measured:
    """Create pods that many watchers see, until the last of them has seen the last pod."""
    ready = [asyncio.Event() for _ in range(WATCHERS)]
    path = f"{CONFIGS}?watch=true&labelSelector=bench%3Dwatched"
    watching = [asyncio.create_task(client.count(path, WATCHED_CREATES, event)) for event in ready]
    await asyncio.gather(*(event.wait() for event in ready))

    async def create(name: str) -> bytes:
        return await client.send("POST", CONFIGS, _config(name, labels={"bench": "watched"}))

    cpu, begun = server.cpu_seconds(), time.monotonic()
    await _timed(server, "", create, [f"w{number}" for number in range(WATCHED_CREATES)])
    await asyncio.gather(*watching)
    name = f"creates seen by {WATCHERS} watchers"
    return Measured(name, WATCHED_CREATES, time.monotonic() - begun, server.cpu_seconds() - cpu)


async def _listed(server: Server, client: Client, count: int) -> Measured:
    existing = len(msgspec.json.decode(await client.send("GET", PODS))["items"])
    further = [f"l{number}" for number in range(count - existing)]
    await _timed(server, "", lambda name: client.send("POST", PODS, _pod(name)), further)
    cpu, begun = server.cpu_seconds(), time.monotonic()
    text = await client.send("GET", PODS)
    name = f"list {count:,} pods, {len(text) / 2**20:.0f} MiB"
    return Measured(name, 1, time.monotonic() - begun, server.cpu_seconds() - cpu)


def _named(name: str) -> Json:
    return {"metadata": {"name": name}}


def _pod(name: str) -> Json:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    container = {"name": "main", "image": "registry.example/app:1", "resources": resources}
    spec = {"schedulerName": "none", "containers": [container], "automountServiceAccountToken": False}
    return {"apiVersion": "v1", "kind": "Pod", **_named(name), "spec": spec}


def _binding(name: str) -> Json:
    target = {"apiVersion": "v1", "kind": "Node", "name": "away"}
    return {"apiVersion": "v1", "kind": "Binding", **_named(name), "target": target}


def _config(name: str, value: str = "1", labels: dict[str, str] | None = None) -> Json:
    data = {f"key-{number}": value for number in range(10)}
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


if __name__ == "__main__":
    sys.exit(main())
