"""The posse command called in this process, and a cluster for it to talk to."""

import asyncio
import io
import sys
import threading
from typing import NamedTuple

import pytest

from posse.cli.main import main
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.options import ClusterOptions

PATIENCE_SECONDS = 120.0
"""For a cluster to start or stop while other tests keep the machine busy."""


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def posse(monkeypatch, capsys, tmp_path):
    """Call the command; nothing of the user's own surroundings reaches it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("KUBECONFIG", raising=False)

    def call(*words, stdin=""):
        monkeypatch.setattr(sys, "argv", ["posse", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory):
    """A cluster with two nodes that serves as long as the tests of one file run."""
    options = ClusterOptions(data_dir=tmp_path_factory.mktemp("cluster"), port=0, node_count=2)
    loop, ready, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve():
        cluster = EmbeddedCluster(options)
        await cluster.start()
        ready.set()
        await over.wait()
        await cluster.stop()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    assert ready.wait(PATIENCE_SECONDS)
    yield options.kubeconfig
    loop.call_soon_threadsafe(over.set)
    thread.join(PATIENCE_SECONDS)
    loop.close()
