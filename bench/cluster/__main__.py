"""Races Posse and kube-scheduler on one API server, shape by shape, and prints how fast each was.

The contender, the API server, etcd and the watching client share the cores of the machine.
Compare figures of one run only.
"""

import argparse
import re
import signal
import sys
import tempfile
from pathlib import Path

import uvloop
from rich.console import Console

from bench.cluster.api import connected
from bench.cluster.contenders import KUBE_SCHEDULER, POSSE
from bench.cluster.device_work import furnish_devices, withdraw_devices
from bench.cluster.race import bare_client, furnish, race
from bench.cluster.report import tables, write
from bench.cluster.results import Race, Result, judge
from bench.cluster.shapes import SHAPES
from posse.control_plane.plane import ControlPlane, running_plane

RESULTS = Path(__file__).parents[2] / "build"
_BARE_PODS = 3000


def main() -> int:
    options = _options()
    # SIGTERM stops the programs that were started, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    console = Console(width=None if Console().is_terminal else 160)
    with tempfile.TemporaryDirectory(prefix="posse-race-") as folder, running_plane(Path(folder)) as plane:
        races = uvloop.run(_race_all(plane, options, console))
    for table in tables(races, options.nodes):
        console.print(table)
    for path in write(races, options.nodes, RESULTS):
        console.print(f"Written to {path}")
    judgement = judge(races)
    for aim in judgement.missed_aims:
        console.print(f"Below the aim: {aim}")
    for goal in judgement.missed_goals:
        console.print(f"Missed: {goal}")
    return 1 if judgement.missed_goals else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--shapes", default="", metavar="RE", help="only shapes whose name matches")
    parser.add_argument("--only", choices=("kube-scheduler", "Posse"), help="without the other")
    return parser.parse_args()


async def _race_all(plane: ControlPlane, options: argparse.Namespace, console: Console) -> list[Race]:
    races: list[Race] = []
    async with connected(plane.kubeconfig()) as api:
        console.print(f"Creating {options.nodes:,} nodes ...")
        await furnish(api, options.nodes)
        for shape in SHAPES:
            if not re.search(options.shapes, shape.name):
                continue
            if shape.with_devices:
                await furnish_devices(api, options.nodes)
            console.print(f"Bare client: creates and binds {_BARE_PODS:,} pods ...")
            bare = await bare_client(api, _BARE_PODS, options.nodes)
            console.print(f"  {bare.binds:,.0f} pods/s")
            results: dict[str, Result] = {}
            # Posse comes first, right after the bare client that it is compared to.
            for contender in (POSSE, KUBE_SCHEDULER):
                if options.only in {None, contender.name}:
                    console.print(f"{contender.name}: {shape.name} ...")
                    results[contender.name] = await race(api, plane, shape, contender)
                    console.print(f"  {results[contender.name].rate:,.0f} pods/s")
            if shape.with_devices:
                await withdraw_devices(api, options.nodes)
            races.append(Race(shape, bare, results.get(POSSE.name), results.get(KUBE_SCHEDULER.name)))
    return races


if __name__ == "__main__":
    sys.exit(main())
