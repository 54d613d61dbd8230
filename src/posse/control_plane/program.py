"""A process with a log of its own, which can be stopped, killed, and started again."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_STOP_SECONDS = 20.0
_LINES_TOLD = 30
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def ends_with_parent() -> None:
    """Have the kernel end a new process together with the thread that started it. Only Linux can do that."""
    if _libc is not None:
        # kube-apiserver does not end on SIGTERM once its etcd is gone.
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class ProgramEndedError(Exception):
    """A program ended, or did not do what it was started for. The message holds the end of its log."""


class Program:
    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.log = log
        self._command = [str(word) for word in command]
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self._started().pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it in a session of its own: an interrupt at the terminal is for its parent."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - programs that Posse names
                self._command,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=ends_with_parent,  # noqa: PLW1509 - it only sets a signal
            )

    def stop(self) -> None:
        """Ask it to end, and end it if it does not."""
        if not self.is_running:
            return
        process = self._started()
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        if self.is_running:
            self._started().kill()
            self._started().wait()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def failure(self, what: str) -> ProgramEndedError:
        said = self.log.read_text(errors="replace").splitlines()[-_LINES_TOLD:] if self.log.exists() else []
        return ProgramEndedError("\n".join([f"{self.name} {what}; the end of {self.log}:", *said]))

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ProgramEndedError(f"{self.name} was never started")
        return self._process
