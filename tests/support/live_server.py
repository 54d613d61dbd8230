"""A real API server on a port of its own, for tests that speak HTTP to it with whatever client they like."""

import asyncio
import random
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop

from posse.apiserver.committer import Committer
from posse.apiserver.http.app import build_app
from posse.apiserver.http.certificates import Certificates, ensure_certificates
from posse.apiserver.http.kubeconfig import ServerAccess, write_kubeconfig
from posse.apiserver.http.server import Listener, serve
from posse.apiserver.service import ApiService
from posse.controllers.pod_admission import complete_new_pod
from posse.kinds.registry import NAMESPACE, POD
from posse.model.feature_gates import ALL_GATES, Gates
from posse.store.store import Store

TOKEN = "a-token-for-tests-only"


class LiveServer:
    """Serves over HTTPS from its own thread and data directory; nothing is scheduled, no node runs anything."""

    def __init__(self, directory: Path, gates: Gates = ALL_GATES) -> None:
        self.directory = directory
        self.gates = gates
        self.token = TOKEN
        self.kubeconfig = directory / "kubeconfig"
        self.certificates: Certificates = ensure_certificates(directory / "tls", time.time())
        self.service: ApiService
        self.listener: Listener
        self._loop = uvloop.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._started: Future[None] = Future()

    @property
    def url(self) -> str:
        return self.listener.url

    def client_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cadata=self.certificates.authority_pem.decode())

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call into the server's own thread, as anything in its process would."""

        async def called() -> Any:
            return function(*args)

        return asyncio.run_coroutine_threadsafe(called(), self._loop).result(10)

    def start(self) -> None:
        self._thread.start()
        self._started.result(10)

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)
            self._loop.close()

    async def _run(self) -> None:
        store = Store.open(self.directory / "data")
        self.service = ApiService(store, time.time, random.Random(1), self.gates, {POD: complete_new_pod})
        committer = Committer(store)
        if not self.service.list(NAMESPACE, None).stored:
            self.service.create(NAMESPACE, "", {"metadata": {"name": "default"}})
        app = build_app(self.service, committer, self.token, time.time)
        self.listener = await serve(app, "127.0.0.1", 0, self.certificates.server_context())
        write_kubeconfig(self.kubeconfig, ServerAccess(self.url, self.certificates.authority_pem, self.token))
        self._started.set_result(None)
        await self._stop.wait()
        await self.listener.close()
        await committer.close()
        store.close()


@contextmanager
def running_server(directory: Path, gates: Gates = ALL_GATES) -> Iterator[LiveServer]:
    server = LiveServer(directory, gates)
    server.start()
    try:
        yield server
    finally:
        server.stop()
