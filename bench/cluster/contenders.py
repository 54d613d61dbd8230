"""The contenders: how each is started, and what it has used."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posse.control_plane.plane import ControlPlane
from posse.control_plane.program import Program
from tools.installed_posse import PosseRun, install_posse

_TICKS = os.sysconf("SC_CLK_TCK")
_ELECTION = {
    "leaderElect": True,
    # A scheduler on a busy machine may renew late; it must not give up the lease for that.
    "leaseDuration": "60s",
    "renewDeadline": "50s",
    # The time until a scheduler notices that the lease is free does not count; this keeps it short.
    "retryPeriod": "200ms",
    "resourceNamespace": "kube-system",
}


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    lease: str
    start: Callable[[ControlPlane], Program]


def _kube_scheduler(plane: ControlPlane) -> Program:
    return plane.start_scheduler(leaderElection=_ELECTION | {"resourceName": "kube-scheduler"})


def _posse(plane: ControlPlane) -> Program:
    election = _ELECTION | {"resourceName": "posse"}
    profiles = [{"schedulerName": "default-scheduler"}]
    installation = install_posse(plane, "native", leaderElection=election, profiles=profiles)
    # As the administrator, like kube-scheduler: checked permissions would cost one of them time.
    posse = PosseRun(plane, installation, kubeconfig=plane.kubeconfig())
    plane.run(posse)
    return posse


KUBE_SCHEDULER = Contender("kube-scheduler", "kube-scheduler", _kube_scheduler)
POSSE = Contender("Posse", "posse", _posse)


@dataclass(frozen=True, slots=True)
class Usage:
    cpu_seconds: float
    max_memory: int
    """Bytes."""


def usage(program: Program) -> Usage:
    """Return what the process and its children have used so far."""
    used = [_usage_of(process) for process in _family(program.pid)]
    return Usage(sum(one.cpu_seconds for one in used), sum(one.max_memory for one in used))


def started_at(program: Program) -> float:
    """Return when the process was started, by the clock on the wall."""
    after_boot = int(_fields(Path(f"/proc/{program.pid}/stat"))[19]) / _TICKS
    since_boot = float(Path("/proc/uptime").read_text().split()[0])
    return time.time() - (since_boot - after_boot)


def _family(pid: int) -> list[Path]:
    """Return the process and all of its descendants."""
    parents = {int(stat.parent.name): _parent(stat) for stat in Path("/proc").glob("[0-9]*/stat")}
    family = [pid]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    return [Path(f"/proc/{member}") for member in family]


def _parent(stat: Path) -> int:
    return int(_fields(stat)[1])


def _fields(stat: Path) -> list[str]:
    """Return the fields after the name of the program, which may contain any character."""
    return stat.read_text().rpartition(")")[2].split()


def _usage_of(process: Path) -> Usage:
    fields = _fields(process / "stat")
    # Its own time, and the time of children that have ended.
    ticks = sum(int(fields[index]) for index in (11, 12, 13, 14))
    status = (process / "status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return Usage(ticks / _TICKS, int(peak.split()[1]) * 1024)
