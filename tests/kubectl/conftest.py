"""Stock kubectl against a live server, with a home of its own so that no cache or configuration leaks in."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.live_server import LiveServer, running_server

SECONDS = 30


class Kubectl:
    server: LiveServer

    def __init__(self, program: str, kubeconfig: Path, home: Path) -> None:
        self._program = program
        self._environment = {
            "HOME": str(home),
            "KUBECACHEDIR": str(home / "cache"),
            "KUBECONFIG": str(kubeconfig),
            "PATH": os.environ.get("PATH", ""),
        }

    def run(self, *words: str, manifest: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._program, *words],
            input=manifest,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def __call__(self, command: str, *words: str, manifest: str = "") -> str:
        """Run a command that must succeed; `words` follow as they are, so they may contain blanks."""
        result = self.run(*command.split(), *words, manifest=manifest)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def refused(self, command: str, *words: str, manifest: str = "") -> str:
        """Run a command that must fail, and return what it tells the person who ran it."""
        result = self.run(*command.split(), *words, manifest=manifest)
        assert result.returncode != 0, result.stdout
        return result.stderr

    def start(self, command: str) -> subprocess.Popen[str]:
        """Start a command that goes on until it is ended, such as a watch."""
        return subprocess.Popen(
            [self._program, *command.split()], env=self._environment, stdout=subprocess.PIPE, text=True
        )


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
        kubectl = Kubectl(program, server.kubeconfig, home)
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
