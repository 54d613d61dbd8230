"""What a check of a client came to."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 1800
PASSED, FAILED, MISSING = "passes", "fails", "not tried"


@dataclass(frozen=True)
class Outcome:
    name: str
    result: str
    detail: str = ""


def tried(name: str, check: Callable[[], None]) -> Outcome:
    try:
        check()
    except Exception as error:  # noqa: BLE001 - whatever a client stumbles over belongs in the table
        return Outcome(name, FAILED, " ".join(f"{type(error).__name__}: {error}".split())[:300])
    return Outcome(name, PASSED)


def ran(command: Sequence[str | Path], environment: Mapping[str, str], folder: Path | None = None) -> str:
    """Return what a program printed; a failure is told with its last words."""
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode:
        raise RuntimeError(" ".join((done.stderr or done.stdout).split())[-300:])
    return done.stdout
