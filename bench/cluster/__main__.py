"""Races kube-scheduler and Posse on one API server, shape by shape, and prints who was how fast.

The machine's cores are shared by the contender, the API server, etcd and the client that watches, as they would be for
anybody who tries it; so only figures of one run are to be compared.
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
from bench.cluster.race import Result, furnish, race, raw_limit
from bench.cluster.report import Report, tables, write
from bench.cluster.shapes import SHAPES
from tools.control_plane.plane import ControlPlane, running_plane

RESULTS = Path(__file__).parents[2] / "build"
_RAW_PODS = 3000


def main() -> int:
    options = _options()
    # Whoever is told to stop stops what it has started.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    console = Console(width=None if Console().is_terminal else 160)
    with tempfile.TemporaryDirectory(prefix="posse-race-") as folder, running_plane(Path(folder)) as plane:
        report = uvloop.run(_race_all(plane, options, console))
    for table in tables(report):
        console.print(table)
    for path in write(report, RESULTS):
        console.print(f"Written to {path}")
    missed = report.missed_goals()
    for goal in missed:
        console.print(f"Missed: {goal}")
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--shapes", default="", metavar="RE", help="only shapes whose name matches")
    parser.add_argument("--only", choices=("kube-scheduler", "Posse"), help="without the other")
    return parser.parse_args()


async def _race_all(plane: ControlPlane, options: argparse.Namespace, console: Console) -> Report:
    results: list[Result] = []
    contenders = [one for one in (KUBE_SCHEDULER, POSSE) if options.only in {None, one.name}]
    async with connected(plane.kubeconfig()) as api:
        console.print(f"Making {options.nodes:,} nodes ...")
        await furnish(api, options.nodes)
        console.print(f"A bare client creates and binds {_RAW_PODS:,} pods ...")
        creates, binds = await raw_limit(api, _RAW_PODS, options.nodes)
        for shape in SHAPES:
            if not re.search(options.shapes, shape.name):
                continue
            for contender in contenders:
                console.print(f"{contender.name}: {shape.name} ...")
                results.append(await race(api, plane, shape, contender))
                console.print(f"  {results[-1].rate:,.0f} pods/s")
    return Report(options.nodes, creates, binds, tuple(results))


if __name__ == "__main__":
    sys.exit(main())
