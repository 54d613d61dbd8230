"""Ten scenarios on published traces of real clusters, by policy: `python -m bench.trace_scenarios`.

The traces are in ../shared/traces, whose README has the orientation figures: mean waits in hours of all jobs, and
of gangs above 8 GPUs, from a plain event simulation. `bench.plain_queue` is such a simulation.
"""

import argparse
import csv
import gzip
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from posse.cli.simulate.inputs import Request, Work, policies_of, work_of
from posse.cli.simulate.run import compared
from posse.engine.forecast.forecast_book import ForecastTally
from posse.model.container import Container, ResourceRequirements
from posse.model.meta import ObjectMeta
from posse.model.node import Node
from posse.model.placement import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from posse.model.pod import Pod, PodSpec
from posse.simulation.clusters import read_nodes, total_gpus
from posse.simulation.jobs import FOREVER, GPU, JobObjects, TracedJob
from posse.simulation.limits import with_limits

TRACES = Path(__file__).parents[2] / "shared" / "traces"
VENUS = "sensetime-helios-venus-2020/jobs.csv.gz"
ITP = "microsoft-itp-2021/jobs-cluster0"
OPENB = "alibaba-openb-2023"
_MOST_MOVED_SECONDS = 1800.0


@dataclass(frozen=True, slots=True)
class Scenario:
    trace: str
    orientation: dict[str, str]
    nodes: int = 0
    gpus: int = 8
    hosts: str = ""
    block: str = ""
    load: float = 1.0
    window: str = ""
    leaves_out_each: int = 0
    """Every row with a number that this divides, counted from 1."""


def _said(fifo: str, greedy: str) -> dict[str, str]:
    return {"fifo": fifo, "greedy": greedy}


SCENARIOS = {
    "V-real": Scenario(VENUS, _said("0 / 0", "0 / 0"), 121),
    "V-tight": Scenario(VENUS, _said("0.42 / 0.54", "0.05 / 0.26"), 96),
    "V-over": Scenario(VENUS, _said("8.0 / 10.8", "3.5 / 22.0"), 80),
    "I4": Scenario(f"{ITP}4.csv.gz", _said("1.3 / 2.0", "0.75 / 2.4"), 80),
    "I2": Scenario(f"{ITP}2.csv.gz", _said("6.3 / 6.1", "2.0 / 13.4"), 20),
    "I7": Scenario(f"{ITP}7.csv.gz", _said("4.0 / -", "1.8 / -"), 40),
    "P-oct": Scenario(
        "microsoft-philly-2017/jobs.csv.gz", _said("3.2 / 9.8", "0.6 / 17.5"), 80, window="2678400:5097600"
    ),
    "T-lingjun": Scenario(
        VENUS,
        _said("0.17 / 0.36", "0.04 / 0.23"),
        hosts="alibaba-lingjun-topology-2023/hosts.csv.gz",
        block="P8",
        load=2.0,
    ),
    "T-rack": Scenario(
        f"{ITP}4.csv.gz",
        _said("1.7 / 2.5", "0.9 / 3.0"),
        gpus=4,
        hosts="nvidia-dgx-fabric-2025/hosts.csv.gz",
        leaves_out_each=4,
    ),
}


def work(scenario: Scenario, folder: Path) -> tuple[Request, Work]:
    request = Request(
        folder / scenario.trace,
        nodes=scenario.nodes or None,
        gpus=scenario.gpus,
        load=scenario.load,
        window=scenario.window,
    )
    found = work_of(request)
    each = scenario.leaves_out_each
    jobs = [job for number, job in enumerate(found.jobs, 1) if not each or number % each]
    nodes = hosts(scenario, folder) if scenario.hosts else found.nodes
    return request, replace(found, jobs=jobs, nodes=nodes)


def hosts(scenario: Scenario, folder: Path) -> list[Node]:
    path = folder / scenario.hosts
    with gzip.open(path, "rt") as lines:
        found = read_nodes(lines, path.name, scenario.gpus)
    return [one for one in found if not scenario.block or scenario.block in one.metadata.labels.values()]


def waits(
    scenario: Scenario,
    policy: str,
    folder: Path,
    *,
    limits: int = 0,
    moved: int = 0,
    forecasts: bool = False,
) -> tuple[str, str, str]:
    """Mean waits in hours, all jobs and large gangs; which forecasts held; and the digest.

    `limits` is the seed with which limits are drawn; without it run times are learned. `moved` is the seed
    with which arrivals are moved, if they are.
    """
    request, given = work(scenario, folder)
    if moved:
        given = replace(given, jobs=moved_arrivals(given.jobs, moved))
    if limits:
        given = replace(given, jobs=with_limits(given.jobs, limits))
    asked = replace(request, policies=(policy,), forecasts=forecasts)
    run = compared(asked, given, policies_of(asked, given)).runs[0]
    figures = run.figures
    assert figures.started == figures.jobs, f"{figures.jobs - figures.started} jobs never started"  # noqa: S101
    held = _held(run.forecasts) if run.forecasts is not None else ""
    return f"{figures.mean_wait / 3600:.2f} / {figures.mean_wait_large / 3600:.2f}", held, run.record.digest


def moved_arrivals(jobs: Sequence[TracedJob], seed: int) -> list[TracedJob]:
    draws = np.random.default_rng(seed).uniform(0.0, _MOST_MOVED_SECONDS, len(jobs)).tolist()
    found = [replace(job, submit=job.submit + later) for job, later in zip(jobs, draws, strict=True)]
    return sorted(found, key=lambda job: job.submit)


def _held(tally: ForecastTally) -> str:
    share = 100 * tally.inside / max(tally.given, 1)
    return f"{share:.1f} % of {tally.given} in band, {tally.early} earlier, {tally.late} later, {tally.before_bound} before bound"


def packing(folder: Path) -> str:
    """O-pack: all pods at once, tried in their order; none ever ends. A share of a GPU counts as a whole one."""
    with gzip.open(folder / OPENB / "nodes.csv.gz", "rt") as lines:
        nodes = read_nodes(lines, "nodes.csv.gz", 0)
    with gzip.open(folder / OPENB / "pods-gpuspec33.csv.gz", "rt") as lines:
        jobs = [_single(row) for row in csv.DictReader(lines)]
    request = Request(Path("pods-gpuspec33"), policies=("greedy",))
    given = Work(nodes, jobs, until=1.0)
    run = compared(request, given, policies_of(request, given)).runs[0]
    held = sum(one.job.gpus for one in run.record.jobs if one.start >= 0)
    return f"{held} of {total_gpus(nodes)} GPUs held, {run.figures.started} of {len(jobs)} pods run"


def _single(row: dict[str, str]) -> TracedJob:
    gpus = int(row["num_gpu"])
    models = tuple(filter(None, row["gpu_spec"].split("|")))
    wanted = NodeSelectorRequirement(key="nvidia.com/gpu.product", operator="In", values=models)
    terms = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(wanted,)),))
    requests: dict[str, str | int | float] = {
        "cpu": f"{row['cpu_milli']}m",
        "memory": f"{row['memory_mib']}Mi",
    }
    if gpus:
        requests[GPU] = str(gpus)
    spec = PodSpec(
        containers=(Container(name="c", resources=ResourceRequirements(requests=requests)),),
        affinity=Affinity(
            node_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=terms)
        )
        if models
        else None,
    )
    pod = Pod(metadata=ObjectMeta(name=row["name"], namespace="default", uid=row["name"]), spec=spec)
    return TracedJob(row["name"], 0.0, FOREVER, 1, gpus, objects=JobObjects((), (pod,)))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.trace_scenarios", description=__doc__)
    parser.add_argument("names", nargs="*", default=[*SCENARIOS, "O-pack"])
    parser.add_argument(
        "--policy", action="append", choices=("fifo", "greedy", "backfill", "shortest-expected")
    )
    parser.add_argument("--limits", type=int, default=0, metavar="SEED", help="Draw run-time limits.")
    parser.add_argument(
        "--move",
        type=int,
        default=0,
        metavar="SEED",
        help="Move every arrival by up to half an hour: what changes by that is chance.",
    )
    parser.add_argument("--forecasts", action="store_true", help="Forecast starts, and say how many held.")
    parser.add_argument("--traces", type=Path, default=TRACES)
    given = parser.parse_args(words)
    print(
        "| scenario | policy | orientation | Posse | forecasts | processor seconds | digest |\n"
        "|---|---|---|---|---|---|---|"
    )
    for name in given.names:
        for policy in given.policy or ("fifo", "greedy"):
            begin = time.process_time()
            if name == "O-pack":
                print(
                    f"| O-pack | greedy | | {packing(given.traces)} | | {time.process_time() - begin:.0f} | |"
                )
                break
            scenario = SCENARIOS[name]
            found, held, digest = waits(
                scenario,
                policy,
                given.traces,
                limits=given.limits,
                moved=given.move,
                forecasts=given.forecasts,
            )
            spent, said = time.process_time() - begin, scenario.orientation.get(policy, "")
            print(
                f"| {name} | {policy} | {said} | {found} | {held} | {spent:.0f} | {digest[:8]} |", flush=True
            )


if __name__ == "__main__":
    main()
