"""Stock kubectl, with a home of its own so that no cache or configuration leaks in."""

import os
import subprocess
from pathlib import Path

SECONDS = 30


class Kubectl:
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
