"""Runs `posse simulate`: reads trace and cluster, runs every policy, prints and writes the results."""

import gzip
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from posse.cli.configuration_file import unusable
from posse.cli.output import Output, print_data
from posse.cli.problems import Misuse, Problem
from posse.cli.simulate.words import comparison_lines, result_data
from posse.configuration.problems import ConfigurationError
from posse.kubelet.nodes import TOPOLOGY_PREFIX, TopologyError, parse_topology
from posse.model.node import Node
from posse.runtime.process.configuration import load_configuration
from posse.simulation.clusters import equal_nodes, read_nodes, total_gpus
from posse.simulation.comparison import PolicyRun, split_oversized
from posse.simulation.jobs import TracedJob
from posse.simulation.policies import Policy, configured_policy, named_policies
from posse.simulation.record import figures_of
from posse.simulation.trace_reading import Reading, TraceError, read_csv, read_swf
from posse.simulation.virtual_cluster import VirtualCluster

T = TypeVar("T")

_STEPS = 200
"""Of a progress bar, so that drawing it costs nothing."""


@dataclass(frozen=True, slots=True)
class Request:
    trace: Path
    nodes: int
    gpus: int
    topology: str
    node_list: Path | None
    gangs_in: str
    policies: tuple[str, ...]
    configurations: tuple[Path, ...]
    load: float
    window: str
    warm_up: float
    out: Path | None


def run_simulations(request: Request, output: Output) -> None:
    nodes = _cluster(request)
    jobs, oversized = split_oversized(_jobs(request), nodes)
    if not jobs:
        raise Problem(f"{request.trace}: no job with GPUs fits on the cluster or into the window")
    policies = _policies(request, nodes)
    gpus = total_gpus(nodes)
    runs = [_run(policy, nodes, jobs, gpus, request.warm_up) for policy in policies]
    data = result_data(request.trace.name, len(nodes), gpus, runs, oversized, request.warm_up)
    if output.is_data:
        print_data(data, output)
    else:
        for line in comparison_lines(len(nodes), gpus, jobs, runs, oversized, request.warm_up):
            typer.echo(line)
    if request.out is not None:
        _write(request.out, data, runs, gpus)
        if not output.is_data:
            typer.echo(f"\nwrote {request.out / 'result.json'} and {request.out / 'report.html'}")


def _run(
    policy: Policy, nodes: Sequence[Node], jobs: Sequence[TracedJob], gpus: int, warm_up: float
) -> PolicyRun:
    cluster = VirtualCluster(nodes, jobs, policy)
    with _progress(policy.name, len(jobs)) as advance:
        record = cluster.run(progress=advance)
    return PolicyRun(policy.name, record, figures_of(record, gpus, warm_up))


@contextmanager
def _progress(name: str, jobs: int) -> Iterator[Callable[[float, int], None] | None]:
    """A bar on the terminal with the simulated day; nothing where standard error is a file."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[day]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=jobs, day="")
        shown = -1

        def advance(now: float, finished: int) -> None:
            nonlocal shown
            if finished * _STEPS // jobs != shown:
                shown = finished * _STEPS // jobs
                bar.update(task, completed=finished, day=f"day {now / 86400:.1f}")

        yield advance


def _cluster(request: Request) -> list[Node]:
    try:
        levels = parse_topology(request.topology)
    except TopologyError as error:
        raise Misuse(f"--topology: {error}") from error
    if request.node_list is None:
        return equal_nodes(request.nodes, request.gpus, levels)
    if levels:
        raise Misuse("--topology and --node-list exclude each other: the list has the topology of its nodes")
    with _opened(request.node_list) as lines:
        return _read(lambda: read_nodes(lines, str(request.node_list), request.gpus))


def _jobs(request: Request) -> list[TracedJob]:
    reading = Reading(str(request.trace), request.gpus)
    is_swf = request.trace.name.removesuffix(".gz").endswith(".swf")
    with _opened(request.trace) as lines:
        jobs = _read(lambda: (read_swf if is_swf else read_csv)(lines, reading))
    begin, end = _window(request.window)
    return [
        replace(job, submit=(job.submit - begin) / request.load) for job in jobs if begin <= job.submit < end
    ]


def _window(text: str) -> tuple[float, float]:
    if not text:
        return 0.0, math.inf
    begin, separator, end = text.partition(":")
    try:
        bounds = float(begin or 0), float(end or math.inf)
    except ValueError:
        bounds = (math.nan, math.nan)
    if not separator or not 0 <= bounds[0] < bounds[1]:
        raise Misuse(f"--window: {text!r} should be FROM:TO in seconds, such as 86400:172800")
    return bounds


def _policies(request: Request, nodes: Sequence[Node]) -> list[Policy]:
    key = _topology_key(request.gangs_in, nodes)
    found = [named_policies()[name] for name in request.policies]
    for path in request.configurations:
        try:
            found.append(configured_policy(path.name, load_configuration(path).options))
        except ConfigurationError as error:
            raise unusable(error, path) from error
    return [replace(policy, topology_key=key) for policy in found]


def _topology_key(level: str, nodes: Sequence[Node]) -> str:
    if not level:
        return ""
    key = level if "/" in level else TOPOLOGY_PREFIX + level
    if not any(key in node.metadata.labels for node in nodes):
        raise Misuse(f"--gangs-in: no node has the label {key}; see --topology and --node-list")
    return key


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            yield lines
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise Problem(f"{path} cannot be read: {error}") from error


def _read(read: Callable[[], list[T]]) -> list[T]:
    try:
        return read()
    except TraceError as error:
        raise Problem(str(error)) from error


def _write(folder: Path, data: dict[str, Any], runs: Sequence[PolicyRun], gpus: int) -> None:
    from posse.cli.simulate.report import report_page  # noqa: PLC0415 - charts take long to load

    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "result.json").write_text(json.dumps(data, indent=2) + "\n")
        (folder / "report.html").write_text(report_page(data, runs, gpus))
    except OSError as error:
        raise Problem(f"--out: {error}") from error
