"""The servers that bench.http_speed measures, and its client: plain requests over TLS."""

import asyncio
import os
import ssl
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import yaml

from posse.control_plane.plane import running_plane

JSON = "application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"
APPLY = "application/apply-patch+yaml"
START_SECONDS = 60.0
MAX_CONNECTIONS = 200
_TICKS = os.sysconf("SC_CLK_TCK")

Json = dict[str, Any]


@dataclass(frozen=True)
class Server:
    kubeconfig: Path
    pids: Sequence[int]

    def cpu_seconds(self) -> float:
        return sum(_cpu_seconds(pid) for pid in self.pids)

    def ran_share(self) -> float:
        """Of the time that its main threads wanted to run, how much they did: less where others run too."""
        ran = sum(_schedule_seconds(pid)[0] for pid in self.pids)
        return ran / max(1e-9, ran + self.waited_seconds())

    def waited_seconds(self) -> float:
        return sum(waited_seconds(pid) for pid in self.pids)


def waited_seconds(pid: int) -> float:
    """For which the main thread wanted to run and had no CPU."""
    return _schedule_seconds(pid)[1]


def _schedule_seconds(pid: int) -> tuple[float, float]:
    """For which the main thread ran, and waited for a CPU."""
    ran, waited, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    return int(ran) / 1e9, int(waited) / 1e9


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def embedded(folder: Path, nodes: int = 1, *, fsync: bool = False) -> Iterator[Server]:
    kubeconfig = folder / "kubeconfig"
    command = [sys.executable, "-m", "posse", "up", "--nodes", str(nodes), "--port", "0", "--no-ui"]
    command += [] if fsync else ["--no-fsync"]
    places = ["--data-dir", folder / "data", "--kubeconfig", kubeconfig]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*command, *map(str, places)], stdout=log, stderr=log)  # noqa: S603
    try:
        deadline = time.monotonic() + START_SECONDS
        while not kubeconfig.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((folder / "log").read_text())
            time.sleep(0.1)
        yield Server(kubeconfig, [process.pid])
    finally:
        process.terminate()
        process.wait()


@contextmanager
def real(folder: Path) -> Iterator[Server]:
    with running_plane(folder) as plane:
        yield Server(plane.kubeconfig(), [plane.etcd.pid, plane.apiserver.pid])


class Client:
    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session = session
        self._address = address

    async def send(
        self,
        method: str,
        path: str,
        body: Json | bytes | None = None,
        accepted: Sequence[int] = (200, 201),
        media: str = JSON,
    ) -> bytes:
        data = msgspec.json.encode(body) if isinstance(body, dict) else body
        headers = {"Content-Type": media, "Accept": PROTOBUF if media == PROTOBUF else JSON}
        async with self._session.request(method, self._address + path, data=data, headers=headers) as answer:
            text = await answer.read()
            if answer.status not in accepted:
                raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
            return text

    async def count(self, path: str, wanted: int, ready: asyncio.Event) -> None:
        """Watch until so many events have come."""
        async with self._session.get(self._address + path) as answer:
            ready.set()
            seen = 0
            while seen < wanted:
                events = await answer.content.readany()
                if not events:
                    raise RuntimeError(f"a watch ended after {seen} of {wanted} events")
                seen += events.count(b"\n")


@asynccontextmanager
async def client_of(server: Server) -> AsyncIterator[Client]:
    config = yaml.safe_load(server.kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    trusted = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
    connector = aiohttp.TCPConnector(limit=MAX_CONNECTIONS, ssl=trusted)
    headers = {"Authorization": f"Bearer {user['token']}"}
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(
        connector=connector, headers=headers, timeout=timeout, read_bufsize=2**20
    ) as session:
        yield Client(session, cluster["server"])
