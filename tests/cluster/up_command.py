"""`posse up --control-plane kubernetes` as a process, and what it leaves behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from posse.control_plane.assets import NATIVE, NEEDED, find_program

START_SECONDS = 180.0
STOP_SECONDS = 90.0


class UpCommand:
    def __init__(self, data: Path, *words: str) -> None:
        for name in NEEDED:
            # Nothing is built by a test: it fails, or is skipped, if a program is missing.
            find_program(NATIVE, name)
        self.data = data
        self.output = data.with_suffix(".out")
        command = [sys.executable, "-m", "posse", "up", "--control-plane", "kubernetes", "--port", "0"]
        with self.output.open("w") as output:
            self._process = subprocess.Popen(
                [*command, "--no-fsync", "--data-dir", data, *words], stdout=output, stderr=output
            )
        self._wait(self._is_ready, START_SECONDS)

    @property
    def kubeconfig(self) -> Path:
        return self.data / "kubeconfig"

    def stop(self, number: int = signal.SIGTERM) -> int:
        self._process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        return self._process.wait(STOP_SECONDS)

    def children(self) -> dict[str, int]:
        """Processes that work in its data directory, by name."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            name = Path(words[0]).name
            if name in NEEDED and any(f"{self.data}/" in word for word in words):
                found[name] = int(folder.name)
        return found

    def wait_until_alone(self) -> None:
        self._wait(lambda: not self.children(), STOP_SECONDS)

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, self.output.read_text()
        return "is ready at" in self.output.read_text()

    def _wait(self, holds, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.1)
