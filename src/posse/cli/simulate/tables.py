"""Tables of the report: the figures of each policy, and their confidence over samples."""

import html
import math
from collections.abc import Sequence

from posse.cli.simulate.times import in_time
from posse.cli.simulate.words import estimate_text
from posse.simulation.comparison import Comparison, PolicyRun
from posse.simulation.estimates import differences_of, estimates_of
from posse.simulation.samples import Estimate

_WAITS = ("Policy", "Started", "Mean wait", "Above 8 GPUs", "P95", "Longest", "Slowdown")
_USE = ("GPUs used", "Restarts", "Evicted GPU hours", "Stranded GPU hours")
_SAMPLED = (
    "Policy",
    "Mean wait",
    "Above 8 GPUs",
    "P95",
    "GPUs used",
    "Evicted GPU hours",
    "Stranded GPU hours",
)


def policy_table(runs: Sequence[PolicyRun]) -> str:
    rows = [
        (
            run.policy,
            f"{run.figures.started} of {run.figures.jobs}",
            in_time(run.figures.mean_wait),
            in_time(run.figures.mean_wait_large),
            in_time(run.figures.p95_wait),
            in_time(run.figures.longest_wait),
            _number(run.figures.mean_slowdown, ".1f"),
            _number(run.figures.utilization, ".1%"),
            str(run.figures.restarts),
            f"{run.figures.lost_gpu_hours:.0f}",
            f"{run.figures.stranded_gpu_hours:.0f}",
        )
        for run in runs
    ]
    return html_table((*_WAITS, *_USE), rows)


def sample_table(comparison: Comparison) -> str:
    """Means with their confidence, and how far policies differ from the first one; empty without samples."""
    first = comparison.samples[0]
    if len(first) < 2:
        return ""
    rows = [_sampled(runs[0].policy, estimates_of(runs)) for runs in comparison.samples]
    against = [
        _sampled(
            f"{runs[0].policy} against {first[0].policy}", differences_of(runs, first), is_difference=True
        )
        for runs in comparison.samples[1:]
    ]
    text = f"Means of {len(first)} samples, with 95 % confidence. Differences that may be chance are marked."
    return f"<h2>Over samples</h2><p>{text}</p>{html_table(_SAMPLED, rows + against)}"


def _sampled(title: str, found: dict[str, Estimate], *, is_difference: bool = False) -> tuple[str, ...]:
    waits = [
        (found[name], estimate_text(found[name])) for name in ("mean_wait", "mean_wait_large", "p95_wait")
    ]
    shares = [(found["utilization"], _with_margin(found["utilization"], ".1%"))]
    hours = [
        (found[name], _with_margin(found[name], ".0f")) for name in ("lost_gpu_hours", "stranded_gpu_hours")
    ]
    return (
        title,
        *(
            f"{text} (chance?)" if is_difference and text != "-" and not one.is_certain else text
            for one, text in (*waits, *shares, *hours)
        ),
    )


def _with_margin(found: Estimate, form: str) -> str:
    return "-" if math.isnan(found.mean) else f"{found.mean:{form}} \u00b1 {_number(found.margin, form)}"


def _number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else f"{value:{form}}"


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th scope='col'>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
