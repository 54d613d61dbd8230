"""Runs `posse simulate`: every policy on every sample of a trace; prints and writes the results."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from posse.cli.output import Output, print_data
from posse.cli.problems import Problem
from posse.cli.reading.placements import rack_label
from posse.cli.simulate.inputs import Request, Work, check, failure_rate, policies_of, work_of
from posse.cli.simulate.left_out import nothing_to_run
from posse.cli.simulate.words import comparison_lines, result_data
from posse.model.node import Node
from posse.simulation.clusters import total_gpus
from posse.simulation.comparison import Comparison, PolicyRun, split_oversized
from posse.simulation.failures import draw_failures
from posse.simulation.forecasting import SimulatedForecasts
from posse.simulation.jobs import FOREVER
from posse.simulation.policies import Policy
from posse.simulation.record import figures_of
from posse.simulation.samples import moved_arrivals
from posse.simulation.virtual_cluster import VirtualCluster

_STEPS = 200
"""Of a progress bar, so that drawing it costs nothing."""


def run_simulations(request: Request, out: Path | None, output: Output) -> None:
    comparison = simulated(request)
    data = result_data(comparison)
    if output.is_data:
        print_data(data, output)
    else:
        for line in comparison_lines(comparison):
            typer.echo(line)
    if out is not None:
        write_report(out, comparison)
        if not output.is_data:
            typer.echo(f"\nwrote {out / 'result.json'} and {out / 'report.html'}")


def simulated(request: Request) -> Comparison:
    """Misuse, Problem: the request cannot be met."""
    check(request)
    work = work_of(request)
    return compared(request, work, policies_of(request, work))


def compared(request: Request, work: Work, policies: Sequence[Policy]) -> Comparison:
    """Run every policy on every sample of the jobs. Misuse, Problem: the request cannot be met."""
    rate = failure_rate(request)
    fitting, oversized = split_oversized(work.jobs, work.nodes)
    gpus = total_gpus(work.nodes)
    if not fitting:
        why = nothing_to_run(work.jobs, work.left_out, (len(work.nodes), gpus), request.window)
        raise Problem(f"{request.trace}: {why}")
    names = [node.metadata.name for node in work.nodes]
    runs: dict[str, list[PolicyRun]] = {policy.name: [] for policy in policies}
    for sample in range(request.samples):
        seed = request.seed + sample
        # The first sample is the trace as it is.
        sampled = moved_arrivals(fitting, request.jitter, seed) if sample else fitting
        failures = work.failures
        if rate is not None:
            known = (job.duration for job in sampled if job.duration < FOREVER)
            until = 2 * sampled[-1].submit + max(known, default=0.0)
            failures = draw_failures(names, rate, until, seed)
        for policy in policies:
            forecasts = SimulatedForecasts(request.warm_up) if request.forecasts else None
            cluster = VirtualCluster(work.nodes, sampled, policy, failures, work.fixtures, forecasts)
            with _progress(policy.name, sample, len(sampled)) as advance:
                record = cluster.run(work.until, advance)
            figures = figures_of(record, gpus, request.warm_up)
            tally = forecasts.book.tally if forecasts is not None else None
            runs[policy.name].append(PolicyRun(policy.name, record, figures, tally))
    samples = tuple(tuple(found) for found in runs.values())
    return Comparison(
        request.trace.name,
        len(work.nodes),
        gpus,
        tuple(fitting),
        tuple(oversized),
        request.warm_up,
        samples,
        _racks(work.nodes),
        tuple(work.left_out),
    )


def _racks(nodes: Sequence[Node]) -> dict[str, str]:
    """The rack of each node that is in one."""
    label = rack_label(nodes)
    return {
        node.metadata.name: node.metadata.labels[label] for node in nodes if label in node.metadata.labels
    }


@contextmanager
def _progress(name: str, sample: int, jobs: int) -> Iterator[Callable[[float, int], None] | None]:
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
        title = f"{name}, sample {sample + 1}" if sample else name
        task = bar.add_task(title, total=jobs, day="")
        shown = -1

        def advance(now: float, finished: int) -> None:
            nonlocal shown
            if finished * _STEPS // jobs != shown:
                shown = finished * _STEPS // jobs
                bar.update(task, completed=finished, day=f"day {now / 86400:.1f}")

        yield advance


def write_report(folder: Path, comparison: Comparison) -> None:
    """Problem: the files cannot be written."""
    from posse.cli.simulate.report import report_page  # noqa: PLC0415 - charts take long to load

    data: dict[str, Any] = result_data(comparison)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "result.json").write_text(json.dumps(data, indent=2) + "\n")
        (folder / "report.html").write_text(report_page(data, comparison))
    except OSError as error:
        raise Problem(f"--out: {error}") from error
