"""Stock kubectl against a live server, and against a whole cluster."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.live_server import LiveServer, running_server
from tests.support.stock_kubectl import SECONDS, Kubectl


class KubectlOfServer(Kubectl):
    server: LiveServer


START_SECONDS = 60


@pytest.fixture
def program() -> str:
    return found_program()


def found_program() -> str:
    program = os.environ.get("POSSE_KUBECTL") or shutil.which("kubectl")
    if not program or not shutil.which(program):
        pytest.fail("these tests need kubectl: put it on PATH or point POSSE_KUBECTL at it")
    return program


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def kubectl(program: str, tmp_path: Path, home: Path):
    with running_server(tmp_path / "server") as server:
        kubectl = KubectlOfServer(program, server.kubeconfig, home)
        kubectl.server = server
        yield kubectl


@pytest.fixture
def cluster_kubectl(program: str, tmp_path: Path, home: Path):
    """Speak to a whole cluster, with a scheduler, controllers and simulated nodes."""
    with running_cluster(tmp_path) as kubeconfig:
        yield Kubectl(program, kubeconfig, home)


@pytest.fixture(scope="session")
def shared_kubectl(tmp_path_factory: pytest.TempPathFactory):
    """Speak to a cluster that serves as long as the tests run."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "home").mkdir()
    with running_cluster(folder) as kubeconfig:
        yield Kubectl(found_program(), kubeconfig, folder / "home")


@contextmanager
def running_cluster(folder: Path) -> Iterator[Path]:
    kubeconfig = folder / "kubeconfig"
    command = [sys.executable, "-m", "posse", "up", "--port", "0", "--data-dir", folder / "data"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([*command, "--kubeconfig", kubeconfig], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not kubeconfig.exists():
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.1)
        yield kubeconfig
    finally:
        process.terminate()
        process.wait(SECONDS)
