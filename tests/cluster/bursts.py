"""An API server in trouble, as seen through a proxy on loopback: busy or broken again and again, or for some paths."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import yaml

from posse.cli.access import read_access
from tests.support.faulty_proxy import FaultyProxy
from tests.support.scripted_server import status

PHASE_SECONDS = 1.0
SEED = 5


class _Real:
    """What the proxy has to know of the server, read from a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        access = read_access(kubeconfig)
        self.url = access.server
        self.token = access.authorization.removeprefix("Bearer ")
        self._tls = access.tls

    def client_context(self):
        return self._tls


class Troubled(FaultyProxy):
    def __init__(self, kubeconfig: Path, share: float, watch_seconds: float) -> None:
        super().__init__(_Real(kubeconfig), SEED, share, watch_seconds)

    def write_kubeconfig(self, path: Path) -> Path:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": {"token": self.token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "c",
        }
        path.write_text(yaml.safe_dump(config))
        return path


class BrokenKind(Troubled):
    """All is well, but from some time on one kind can neither be listed nor watched. Watches last for seconds."""

    def __init__(self, kubeconfig: Path, plural: str) -> None:
        super().__init__(kubeconfig, share=0.0, watch_seconds=3.0)
        self._plural = plural
        self.is_broken = False
        self.refused = 0

    async def handle(self, request):
        if self.is_broken and request.path.endswith(f"/{self._plural}") and request.method == "GET":
            self.refused += 1
            return status(500, "InternalError")
        return await super().handle(request)


class Bursts(Troubled):
    """A second of each: well, too busy, well, broken. Beside that some answers are lost, and watches last for seconds."""

    def __init__(self, kubeconfig: Path) -> None:
        super().__init__(kubeconfig, share=0.03, watch_seconds=5.0)
        self.bursts = {429: 0, 500: 0, 502: 0, 503: 0, 504: 0}

    async def handle(self, request):
        phase = int(time.monotonic() / PHASE_SECONDS) % 4
        if phase == 1:
            return self._refuse(429, {"Retry-After": "1"})
        if phase == 3:
            return self._refuse(self.random.choice([500, 502, 503, 504]))
        return await super().handle(request)

    def _refuse(self, code, headers=None):
        self.bursts[code] += 1
        return status(code, headers=headers)


Proxy = TypeVar("Proxy", bound=Troubled)


@contextmanager
def serving(proxy: Proxy) -> Iterator[Proxy]:
    """Serve from a thread of its own until the end."""
    started, ended = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with proxy.running():
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(10)
        yield proxy
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()
