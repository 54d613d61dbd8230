"""What a pod's annotations ask of the simulated containers: how long to run, how to exit, how slowly to stop.

A value that cannot be read is never fatal: the default applies and a complaint says so.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

RUN_SECONDS = "posse.dev/run-seconds"
"""On a pod: how long its simulated containers run; without it they do not end."""
EXIT_CODE = "posse.dev/exit-code"
"""On a pod: with which code its simulated containers end."""
STOP_SECONDS = "posse.dev/stop-seconds"
"""On a pod: how long its simulated containers take to stop."""

HIGHEST_EXIT_CODE = 255


@dataclass(frozen=True, slots=True)
class RunPlan:
    """How the containers of one pod behave; without `run_seconds` they do not end by themselves."""

    run_seconds: float | None = None
    exit_code: int = 0
    stop_seconds: float = 0.0
    complaints: tuple[str, ...] = ()


def read_plan(annotations: Mapping[str, str]) -> RunPlan:
    complaints: list[str] = []
    run_seconds = _seconds(annotations, RUN_SECONDS, complaints)
    stop_seconds = _seconds(annotations, STOP_SECONDS, complaints)
    exit_code = _exit_code(annotations, complaints)
    return RunPlan(run_seconds, exit_code, stop_seconds or 0.0, tuple(complaints))


def _seconds(annotations: Mapping[str, str], name: str, complaints: list[str]) -> float | None:
    text = annotations.get(name)
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if math.isfinite(seconds) and seconds >= 0:
        return seconds
    complaints.append(f'annotation {name}: "{text}" is not a number of seconds (such as "30"); it is ignored')
    return None


def _exit_code(annotations: Mapping[str, str], complaints: list[str]) -> int:
    text = annotations.get(EXIT_CODE, "0")
    if text.isascii() and text.isdigit() and int(text[:4]) <= HIGHEST_EXIT_CODE and len(text) <= 3:
        return int(text)
    complaints.append(
        f'annotation {EXIT_CODE}: "{text}" is not an exit code (0 to {HIGHEST_EXIT_CODE}); 0 is used'
    )
    return 0
