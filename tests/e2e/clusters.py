"""The clusters that the tests run on: both kinds of `posse up`, each a process of its own."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EMBEDDED, KUBERNETES = "embedded", "kubernetes"
MODES = (EMBEDDED, KUBERNETES)
START_SECONDS = 180.0
NODES = 4


@contextmanager
def running_cluster(mode: str, folder: Path) -> Iterator[Path]:
    """Yield the kubeconfig of a new cluster with a few nodes."""
    log = folder / "up.log"
    command = [sys.executable, "-m", "posse", "up", "--control-plane", mode, "--port", "0", "--no-ui"]
    places = [
        "--data-dir",
        folder / "data",
        "--kubeconfig",
        folder / "kubeconfig",
        "--nodes",
        "4",
        "--no-fsync",
    ]
    with log.open("w") as output:
        process = subprocess.Popen([*command, *places], stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + START_SECONDS
        while "is ready at" not in log.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"posse up did not start: {log.read_text()}")
            time.sleep(0.2)
        yield folder / "kubeconfig"
    finally:
        process.terminate()
        process.wait()
