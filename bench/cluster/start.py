"""Start of Posse and of kube-scheduler on an API server with running pods: until the first gang is bound.

The gang waits before the scheduler starts. Seconds on the wall contain the API server and all else that runs
on the machine; CPU seconds are those of the scheduler alone.
"""

import argparse
import asyncio
import compileall
import signal
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import uvloop

import posse
from bench.cluster.api import GROUPS, PODS, Api, at_once, connected
from bench.cluster.contenders import KUBE_SCHEDULER, POSSE, Contender, started_at, usage
from bench.cluster.race import furnish
from bench.cluster.shapes import Shape, node_name, pod
from posse.control_plane.plane import ControlPlane, running_plane

GANG = Shape("the first gang", 1, 100)
_MAX_SECONDS = 300.0


class Start(NamedTuple):
    name: str
    first: float
    """Seconds from the start of the process until the first pod of the gang is bound."""
    last: float
    cpu_seconds: float
    max_memory: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=50_000, help="that run already")
    parser.add_argument("--rounds", type=int, default=1, help="starts of each, in turns")
    parser.add_argument("--data", type=Path, help="folder that keeps the running pods for the next time")
    options = parser.parse_args()
    # SIGTERM stops the programs that were started, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    # An installed package is compiled; so is this one, whether or not Python may write what it compiles.
    compileall.compile_dir(Path(posse.__file__).parent, quiet=1)
    if options.data is not None:
        _compare(options.data, options.nodes, options.pods, options.rounds)
        return 0
    with tempfile.TemporaryDirectory(prefix="posse-start-") as folder:
        _compare(Path(folder), options.nodes, options.pods, options.rounds)
    return 0


def _compare(folder: Path, nodes: int, pods: int, rounds: int) -> None:
    with running_plane(folder) as plane:
        _fill(plane, nodes, pods)
        starts = uvloop.run(_starts(plane, rounds))
    print(f"{nodes:,} nodes, {pods:,} running pods, a waiting gang of {GANG.pod_count}")
    print(f"{'':<16} {'first pod':>10} {'whole gang':>11} {'CPU':>8} {'memory':>9}")
    for one in starts:
        print(
            f"{one.name:<16} {one.first:>8.1f} s {one.last:>9.1f} s {one.cpu_seconds:>6.1f} s "
            f"{one.max_memory / 2**20:>5.0f} MiB"
        )


def _fill(plane: ControlPlane, nodes: int, pods: int) -> None:
    """A note in the folder says with what it is filled."""
    note, contents = plane.folder / "filled", f"{nodes} nodes, {pods} pods"
    if note.exists() and note.read_text() == contents:
        return
    uvloop.run(_furnish(plane, nodes, pods))
    note.write_text(contents)


async def _furnish(plane: ControlPlane, nodes: int, pods: int) -> None:
    async with connected(plane.kubeconfig()) as api:
        await furnish(api, nodes)
        await _run_pods(api, nodes, pods)


async def _starts(plane: ControlPlane, rounds: int) -> list[Start]:
    async with connected(plane.kubeconfig()) as api:
        return [await _start(api, plane, contender) for contender in (POSSE, KUBE_SCHEDULER) * rounds]


async def _run_pods(api: Api, nodes: int, count: int) -> None:
    async def make(number: int) -> None:
        name = f"running-{number}"
        await api.create(PODS, pod(name) | {"spec": pod(name)["spec"] | {"schedulerName": "nobody"}})
        await api.bind(name, node_name(number % nodes))

    await at_once(make, range(count))


async def _start(api: Api, plane: ControlPlane, contender: Contender) -> Start:
    for group in GANG.groups():
        await api.create(GROUPS, group)
    for one in GANG.pods():
        await api.create(PODS, one)
    bound: dict[str, float] = {}
    watching = asyncio.create_task(api.note_bound(GANG.pod_count, bound))
    # The watch must have begun before the first binding.
    await asyncio.sleep(1.0)
    program = contender.start(plane)
    try:
        started = started_at(program)
        await asyncio.wait_for(watching, _MAX_SECONDS)
        used = usage(program)
    finally:
        program.stop()
    await _remove_gang(api)
    moments = sorted(moment - started for moment in bound.values())
    return Start(contender.name, moments[0], moments[-1], used.cpu_seconds, used.max_memory)


async def _remove_gang(api: Api) -> None:
    """No controller runs that would remove the finalizer of the group."""
    for one in GANG.pods():
        await api.delete(f"{PODS}/{one['metadata']['name']}")
    for group in GANG.groups():
        path = f"{GROUPS}/{group['metadata']['name']}"
        await api.patch(path, {"metadata": {"finalizers": None}})
        await api.delete(path)


if __name__ == "__main__":
    sys.exit(main())
