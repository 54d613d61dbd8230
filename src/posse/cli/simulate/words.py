"""The outcome of simulations in words, and as data."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from posse.cli.simulate.divergence import divergence_text
from posse.cli.simulate.left_out import left_out_lines, oversized_text
from posse.cli.simulate.times import gpus_text, in_time
from posse.cli.tables import aligned
from posse.engine.forecast.forecast_book import ForecastTally
from posse.simulation.comparison import Comparison, PolicyRun, longest_waits
from posse.simulation.estimates import differences_of, estimates_of
from posse.simulation.record import LARGE_GPUS, Figures
from posse.simulation.samples import Estimate, difference, estimate

Json = dict[str, Any]

_LISTED = 5


def comparison_lines(comparison: Comparison) -> list[str]:
    jobs, runs, oversized = comparison.jobs, comparison.runs, comparison.oversized
    arrivals = f"{in_time(jobs[-1].submit)} of arrivals"
    lines = [f"{len(jobs)} jobs on {comparison.nodes} nodes with {comparison.gpus} GPUs, {arrivals}"]
    if comparison.warm_up:
        lines.append(f"Jobs of the first {in_time(comparison.warm_up)} are not counted.")
    waits = ["POLICY", "STARTED", "MEAN WAIT", f">{LARGE_GPUS} GPUS", "MEDIAN", "P95", "LONGEST"]
    lines += ["", *aligned([waits, *map(_waits, runs)])]
    usage = ["POLICY", "SLOWDOWN", "GPUS USED", "RESTARTS", "HOURS LOST", "STRANDED"]
    lines += ["", *aligned([usage, *map(_usage, runs)])]
    if oversized:
        lines += ["", oversized_text(oversized)]
    lines += [line for text in left_out_lines(comparison.left_out) for line in ("", text)]
    foretold = [(run.policy, run.forecasts) for run in runs if run.forecasts is not None]
    if foretold:
        lines += ["", *forecast_lines(foretold)]
    lines += [line for run in runs for line in _never_started(run)]
    for run in runs[1:]:
        lines += ["", divergence_text(runs[0], run)]
    if len(comparison.samples[0]) > 1:
        lines += ["", *_sample_lines(comparison)]
    return lines


def forecast_lines(tallies: Sequence[tuple[str, ForecastTally]]) -> list[str]:
    """How many of the jobs that had to wait started inside the band of their first forecast."""
    header = ["FORECASTS", "GIVEN", "IN BAND", "EARLIER", "LATER", "UNKNOWN", "BEFORE BOUND"]
    rows = [
        [
            name,
            str(tally.given),
            *(_share(number, tally.given) for number in (tally.inside, tally.early, tally.late)),
            str(tally.unforeseen),
            str(tally.before_bound),
        ]
        for name, tally in tallies
    ]
    return aligned([header, *rows])


def _share(number: int, of: int) -> str:
    return f"{number / of:.1%}" if of else "-"


def _never_started(run: PolicyRun) -> list[str]:
    jobs = [one.job for one in run.record.jobs if math.isnan(one.start)]
    if not jobs:
        return []
    names = ", ".join(f"{job.name} ({gpus_text(job.gpus)})" for job in jobs[:_LISTED])
    more = "" if len(jobs) <= _LISTED else f", and {len(jobs) - _LISTED} more"
    return ["", f"Never started by {run.policy}: {names}{more}"]


def _sample_lines(comparison: Comparison) -> list[str]:
    """Means over samples with 95 % confidence; against the first policy, pair by pair."""
    first = comparison.samples[0]
    rows = [
        ["POLICY", "MEAN WAIT", f">{LARGE_GPUS} GPUS", f"AGAINST {first[0].policy.upper()}"],
    ]
    for runs in comparison.samples:
        waits = [run.figures.mean_wait for run in runs]
        large = [run.figures.mean_wait_large for run in runs]
        against = difference(waits, [run.figures.mean_wait for run in first])
        certain = "" if against.is_certain else " (chance?)"
        rows.append(
            [
                runs[0].policy,
                estimate_text(estimate(waits)),
                estimate_text(estimate(large)),
                "" if runs is first else f"{estimate_text(against)}{certain}",
            ]
        )
    return [f"Over {len(first)} samples, with 95 % confidence:", *aligned(rows)]


def estimate_text(found: Estimate) -> str:
    if math.isnan(found.mean):
        return "-"
    sign = "-" if found.mean < 0 else ""
    return f"{sign}{in_time(abs(found.mean))} \u00b1 {in_time(found.margin)}"


def _waits(run: PolicyRun) -> list[str]:
    figures = run.figures
    return [
        run.policy,
        f"{figures.started}/{figures.jobs}",
        in_time(figures.mean_wait),
        in_time(figures.mean_wait_large),
        in_time(figures.median_wait),
        in_time(figures.p95_wait),
        in_time(figures.longest_wait),
    ]


def _usage(run: PolicyRun) -> list[str]:
    figures = run.figures
    return [
        run.policy,
        "-" if math.isnan(figures.mean_slowdown) else f"{figures.mean_slowdown:.1f}",
        "-" if math.isnan(figures.utilization) else f"{figures.utilization:.1%}",
        str(figures.restarts),
        f"{figures.lost_gpu_hours:.0f}",
        f"{figures.stranded_gpu_hours:.0f}",
    ]


def result_data(comparison: Comparison) -> Json:
    return {
        "version": 1,
        "trace": comparison.trace,
        "nodes": comparison.nodes,
        "gpus": comparison.gpus,
        "warmUpSeconds": comparison.warm_up,
        "oversizedJobs": [job.name for job in comparison.oversized],
        "leftOutJobs": dict(Counter(one.reason for one in comparison.left_out)),
        "policies": [
            _policy_data(runs, comparison.warm_up) | _confidence_data(runs, comparison.samples[0])
            for runs in comparison.samples
        ],
    }


def _policy_data(runs: Sequence[PolicyRun], warm_up: float) -> Json:
    """Figures of the trace as it is; those of further samples follow in `samples`."""
    first = runs[0]
    found = {
        "policy": first.policy,
        "digest": first.record.digest,
        "figures": _figures_data(first.figures),
        "longestWaits": [
            {"job": one.job.name, "gpus": one.job.gpus, "waitSeconds": _plain(one.wait)}
            for one in longest_waits(first.record, 10, warm_up)
        ],
    }
    if first.forecasts is not None:
        found["forecasts"] = {_camel(name): number for name, number in asdict(first.forecasts).items()}
    if len(runs) > 1:
        found["samples"] = [
            {"digest": run.record.digest, "figures": _figures_data(run.figures)} for run in runs
        ]
    return found


def _confidence_data(runs: Sequence[PolicyRun], first: Sequence[PolicyRun]) -> Json:
    """Over samples: means, and differences to the first policy. Nothing if there is one sample."""
    if len(runs) < 2:
        return {}
    found = {"confidence": _estimates_data(estimates_of(runs))}
    if runs is not first:
        found["againstFirst"] = _estimates_data(differences_of(runs, first))
    return found


def _estimates_data(estimates: Mapping[str, Estimate]) -> Json:
    """The interval of 95 % is the mean plus and minus the margin."""
    return {
        _camel(name): {"mean": _plain(one.mean), "margin": _plain(one.margin)}
        for name, one in estimates.items()
    }


def _figures_data(figures: Figures) -> Json:
    return {_camel(name): _plain(value) for name, value in asdict(figures).items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _plain(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else round(value, 6)
