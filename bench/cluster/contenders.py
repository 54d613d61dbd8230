"""Who races, how it is started, and what it has used up."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.control_plane.plane import ControlPlane
from tools.control_plane.posse import PosseRun, install_posse
from tools.control_plane.program import Program

_TICKS = os.sysconf("SC_CLK_TCK")
_ELECTION = {
    "leaderElect": True,
    # On a machine that is this busy a scheduler may be late; one that gives up for that reason ends the race.
    "leaseDuration": "60s",
    "renewDeadline": "50s",
    # How late a scheduler notices that the lease is free does not count, but need not take long either.
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
    # As the administrator, like kube-scheduler: rights that are looked up for one of them only would cost it time.
    posse = PosseRun(plane, installation, kubeconfig=plane.kubeconfig())
    plane.run(posse)
    return posse


KUBE_SCHEDULER = Contender("kube-scheduler", "kube-scheduler", _kube_scheduler)
POSSE = Contender("Posse", "posse", _posse)


@dataclass(frozen=True, slots=True)
class Usage:
    cpu_seconds: float
    most_memory: int
    """Bytes."""


def usage(program: Program) -> Usage:
    """What the process and its children have used so far."""
    used = [_usage_of(process) for process in _family(program.pid)]
    return Usage(sum(one.cpu_seconds for one in used), sum(one.most_memory for one in used))


def _family(pid: int) -> list[Path]:
    """The process, its children, theirs, and so on, as they are now."""
    parents = {int(stat.parent.name): _parent(stat) for stat in Path("/proc").glob("[0-9]*/stat")}
    family = [pid]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member]
    return [Path(f"/proc/{member}") for member in family]


def _parent(stat: Path) -> int:
    return int(_fields(stat)[1])


def _fields(stat: Path) -> list[str]:
    """Those behind the name of the program, which may hold anything."""
    return stat.read_text().rpartition(")")[2].split()


def _usage_of(process: Path) -> Usage:
    fields = _fields(process / "stat")
    # Its own time, and that of children which have ended.
    ticks = sum(int(fields[index]) for index in (11, 12, 13, 14))
    status = (process / "status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return Usage(ticks / _TICKS, int(peak.split()[1]) * 1024)
