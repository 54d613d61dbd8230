"""Who races, how it is started, and what it has used up."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import yaml

from tools.control_plane.plane import ControlPlane
from tools.control_plane.program import Program

_TICKS = os.sysconf("SC_CLK_TCK")
_ELECTION = {
    "leaderElect": True,
    "leaseDuration": "15s",
    "renewDeadline": "10s",
    # How late a scheduler notices that the lease is free does not count, but need not take long either.
    "retryPeriod": "200ms",
    "resourceNamespace": "kube-system",
}


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    lease: str
    start: Callable[[ControlPlane, Path], Program]


def _kube_scheduler(plane: ControlPlane, folder: Path) -> Program:
    del folder
    return plane.start_scheduler(leaderElection=_ELECTION | {"resourceName": "kube-scheduler"})


def _posse(plane: ControlPlane, folder: Path) -> Program:
    configuration = folder / "posse.yaml"
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": _ELECTION | {"resourceName": "posse"},
    }
    configuration.write_text(yaml.safe_dump(document))
    words: list[str | Path] = ["--kubeconfig", plane.kubeconfig(), "--config", configuration, "--port", "0"]
    command: list[str | Path] = [sys.executable, "-m", "posse", "run", *words]
    program = Program("posse", command, folder / "posse.log")
    program.start()
    return program


KUBE_SCHEDULER = Contender("kube-scheduler", "kube-scheduler", _kube_scheduler)
POSSE = Contender("Posse", "posse", _posse)


@dataclass(frozen=True, slots=True)
class Usage:
    cpu_seconds: float
    most_memory: int
    """Bytes."""


def usage(program: Program) -> Usage:
    """What the process and its children have used so far."""
    fields = Path(f"/proc/{program.pid}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(int(fields[index]) for index in (11, 12))
    status = Path(f"/proc/{program.pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return Usage(ticks / _TICKS, int(peak.split()[1]) * 1024)
