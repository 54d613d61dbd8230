"""Stock kubectl against a live server, and against a whole cluster."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.live_server import LiveServer, running_server
from tests.support.stock_kubectl import SECONDS, Kubectl


class KubectlOfServer(Kubectl):
    server: LiveServer


@pytest.fixture
def program() -> str:
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
    kubeconfig = tmp_path / "kubeconfig"
    command = [sys.executable, "-m", "posse", "up", "--port", "0", "--data-dir", tmp_path / "data"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen([*command, "--kubeconfig", kubeconfig], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + SECONDS
        while not kubeconfig.exists():
            assert time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.1)
        yield Kubectl(program, kubeconfig, home)
    finally:
        process.terminate()
        process.wait(SECONDS)
