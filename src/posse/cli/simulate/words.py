"""The outcome of simulations in words, and as data."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from posse.cli.tables import aligned
from posse.simulation.comparison import PolicyRun, first_divergence, longest_waits
from posse.simulation.jobs import TracedJob
from posse.simulation.record import LARGE_GPUS, JobRecord

Json = dict[str, Any]

_LISTED = 5


def comparison_lines(
    nodes: int,
    gpus: int,
    jobs: Sequence[TracedJob],
    runs: Sequence[PolicyRun],
    oversized: Sequence[TracedJob],
    warm_up: float,
) -> list[str]:
    lines = [f"{len(jobs)} jobs on {nodes} nodes with {gpus} GPUs, {in_time(jobs[-1].submit)} of arrivals"]
    if warm_up:
        lines.append(f"Jobs of the first {in_time(warm_up)} are not counted.")
    header = ["POLICY", "STARTED", "MEAN WAIT", f"ABOVE {LARGE_GPUS} GPUS", "MEDIAN", "P95", "LONGEST"]
    rows = [[*header, "SLOWDOWN", "GPUS USED", "GPU HOURS LOST"], *map(_row, runs)]
    lines += ["", *aligned(rows)]
    if oversized:
        names = ", ".join(f"{job.name} ({gpus_text(job.gpus)})" for job in oversized[:_LISTED])
        more = "" if len(oversized) <= _LISTED else f", and {len(oversized) - _LISTED} more"
        lines += [
            "",
            f"{len(oversized)} jobs do not fit on the empty cluster, and were left out: {names}{more}",
        ]
    for run in runs[1:]:
        lines += ["", divergence_text(runs[0], run)]
    return lines


def _row(run: PolicyRun) -> list[str]:
    figures = run.figures
    return [
        run.policy,
        f"{figures.started}/{figures.jobs}",
        in_time(figures.mean_wait),
        in_time(figures.mean_wait_large),
        in_time(figures.median_wait),
        in_time(figures.p95_wait),
        in_time(figures.longest_wait),
        "-" if math.isnan(figures.mean_slowdown) else f"{figures.mean_slowdown:.1f}",
        "-" if math.isnan(figures.utilization) else f"{figures.utilization:.1%}",
        f"{figures.lost_gpu_hours:.0f}",
    ]


def divergence_text(one: PolicyRun, other: PolicyRun) -> str:
    found = first_divergence(one.record, other.record)
    if found is None:
        return f"{one.policy} and {other.policy} start every job at the same moment on the same nodes."
    what = f"job {found.job.name} ({gpus_text(found.job.gpus)})"
    return (
        f"{one.policy} and {other.policy} first differ over {what}: "
        f"{_start_text(one.policy, found.one)}, {_start_text(other.policy, found.other)}."
    )


def _start_text(policy: str, record: JobRecord) -> str:
    if math.isnan(record.start):
        return f"{policy} never starts it"
    where = record.nodes[0] if len(record.nodes) == 1 else f"{len(set(record.nodes))} nodes"
    return f"{policy} starts it after {in_time(record.wait)} on {where}"


def gpus_text(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def in_time(seconds: float) -> str:
    """As a person would say it: 45s, 12m, 3.4h, 2.1d."""
    if math.isnan(seconds):
        return "-"
    for unit, size in (("d", 2 * 86400.0), ("h", 3600.0), ("m", 60.0)):
        if seconds >= size:
            return f"{seconds / (86400 if unit == 'd' else size):.1f}{unit}"
    return f"{seconds:.0f}s"


def result_data(
    trace: str,
    nodes: int,
    gpus: int,
    runs: Sequence[PolicyRun],
    oversized: Sequence[TracedJob],
    warm_up: float,
) -> Json:
    return {
        "version": 1,
        "trace": trace,
        "nodes": nodes,
        "gpus": gpus,
        "warmUpSeconds": warm_up,
        "oversizedJobs": [job.name for job in oversized],
        "policies": [
            {
                "policy": run.policy,
                "digest": run.record.digest,
                "figures": {_camel(name): _plain(value) for name, value in asdict(run.figures).items()},
                "longestWaits": [
                    {"job": one.job.name, "gpus": one.job.gpus, "waitSeconds": _plain(one.wait)}
                    for one in longest_waits(run.record, 10, warm_up)
                ],
            }
            for run in runs
        ],
    }


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _plain(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else round(value, 6)
