"""The report of a simulation: one HTML file that needs no network."""

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from posse.cli.simulate.divergence import divergence_text
from posse.cli.simulate.gantt import gantt
from posse.cli.simulate.left_out import left_out_lines, oversized_text
from posse.cli.simulate.tables import html_table, policy_table, sample_table
from posse.cli.simulate.times import in_time
from posse.simulation.comparison import Comparison, PolicyRun, longest_waits, series_of
from posse.simulation.record import JobRecord

Json = dict[str, Any]

_HOUR, _DAY = 3600.0, 86400.0
_SIZES = ((1, 1), (2, 4), (5, 8), (9, 16), (17, 64), (65, 10**9))
_TENANTS = 6
"""As many have a line of their own: those with most jobs."""
_COLOURS = ("#2563eb", "#d97706", "#059669", "#db2777", "#7c3aed", "#0891b2")


def report_page(data: Json, comparison: Comparison) -> str:
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Simulation of {html.escape(data['trace'])}</title><style>{_STYLE}</style>"
        f"<script>{get_plotlyjs()}</script></head><body><main>"
        f"<h1>{html.escape(data['trace'])}: {data['nodes']} nodes, {data['gpus']} GPUs</h1>"
        f"{policy_table(comparison.runs)}{sample_table(comparison)}{_remarks(comparison)}"
        f"{''.join(_sections(comparison))}"
        f"{_longest(comparison.runs, comparison.warm_up)}{_digests(comparison.runs)}"
        "</main></body></html>\n"
    )


def _sections(comparison: Comparison) -> Iterator[str]:
    runs, begin, first = comparison.runs, comparison.warm_up, comparison.runs[0]
    yield _section(
        "Waiting times", "How many jobs had started after how long a wait.", _wait_cdf(runs, begin)
    )
    tenants = _tenants(first, begin)
    if len(tenants) > 1:
        text = f"The first policy ({first.policy}), by user or else queue: those with most jobs."
        yield _section("Waiting times by tenant", text, _tenant_cdf(tenants))
    text = "Large gangs wait longer where small jobs pass them."
    yield _section("Mean wait by size", text, _wait_by_size(runs, begin))
    used, stranded = _usage(runs, comparison.gpus)
    yield _section("GPUs in use and asked for", "Solid: in use. Dotted: asked for by waiting jobs.", used)
    text = "Free while jobs waited that asked for no more than what was free."
    yield _section("Stranded GPUs", text, stranded)
    where = "racks" if comparison.racks else "nodes"
    text = f"The first policy ({first.policy}), its last jobs. Hatched: evicted, or their node failed."
    yield _section(f"Jobs on {where}", text, gantt(first, comparison.racks))


def _section(title: str, text: str, figure: go.Figure) -> str:
    return f"<section><h2>{title}</h2><p>{html.escape(text)}</p>{_chart(figure)}</section>"


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;color:#1f2937;margin:0;background:#fff}"
    "main{max-width:1100px;margin:auto;padding:1rem}table{border-collapse:collapse;margin:1rem 0}"
    "th,td{padding:.3rem .8rem;border-bottom:1px solid #d1d5db;text-align:right}"
    "th:first-child,td:first-child{text-align:left}td{white-space:nowrap}"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin:2rem 0 0}"
    "p{margin:.2rem 0;color:#4b5563}code{font-size:.85rem;overflow-wrap:anywhere}"
)


def _chart(figure: go.Figure) -> str:
    height = figure.layout.height or 420
    figure.update_layout(margin={"l": 60, "r": 20, "t": 20, "b": 50}, height=height, template="plotly_white")
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False}))


def _remarks(comparison: Comparison) -> str:
    """What was left out, and where policies first differ."""
    first, *others = comparison.runs
    lines = [oversized_text(comparison.oversized)] if comparison.oversized else []
    lines += [*left_out_lines(comparison.left_out), *(divergence_text(first, run) for run in others)]
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def _started(run: PolicyRun, begin: float) -> list[JobRecord]:
    return [one for one in run.record.within(begin) if not math.isnan(one.start)]


def _wait_cdf(runs: Sequence[PolicyRun], begin: float) -> go.Figure:
    figure = go.Figure()
    for run, colour in zip(runs, _colours(len(runs)), strict=True):
        for name, dash, least in (("all jobs", "solid", 0), ("above 8 GPUs", "dot", 9)):
            waits = [one.wait for one in _started(run, begin) if one.job.gpus >= least]
            _add_shares(figure, waits, f"{run.policy}, {name}", {"color": colour, "dash": dash})
    return _share_axes(figure)


def _tenants(run: PolicyRun, begin: float) -> dict[str, list[float]]:
    """Waits by user, or else queue: the largest ones, and all others together."""
    found: dict[str, list[float]] = {}
    for one in _started(run, begin):
        found.setdefault(one.job.user or one.job.queue or "no name", []).append(one.wait)
    names = sorted(found, key=lambda name: (-len(found[name]), name))
    tenants = {name: found[name] for name in names[:_TENANTS]}
    if rest := names[_TENANTS:]:
        tenants[f"{len(rest)} others"] = [wait for name in rest for wait in found[name]]
    return tenants


def _tenant_cdf(tenants: Mapping[str, Sequence[float]]) -> go.Figure:
    figure = go.Figure()
    for (name, waits), colour in zip(tenants.items(), (*_COLOURS, "#6b7280"), strict=False):
        jobs = "1 job" if len(waits) == 1 else f"{len(waits)} jobs"
        _add_shares(figure, waits, f"{html.escape(name)} ({jobs})", {"color": colour})
    return _share_axes(figure)


def _add_shares(figure: go.Figure, waits: Sequence[float], name: str, line: Json) -> None:
    """A line that rises with the share of jobs that waited no longer."""
    ordered = np.sort(waits)
    if ordered.size:
        shown = np.unique(np.linspace(0, ordered.size - 1, 500).astype(int))
        hours = np.maximum(ordered[shown], 1) / _HOUR
        figure.add_scatter(x=hours, y=(shown + 1) / ordered.size, name=name, line=line, mode="lines")


def _share_axes(figure: go.Figure) -> go.Figure:
    figure.update_xaxes(type="log", title="wait in hours")
    figure.update_yaxes(title="share of jobs started", tickformat=".0%", range=[0, 1.02])
    figure.update_layout(showlegend=True)
    return figure


def _wait_by_size(runs: Sequence[PolicyRun], begin: float) -> go.Figure:
    figure = go.Figure()
    for run, colour in zip(runs, _colours(len(runs)), strict=True):
        means = []
        for least, most in _SIZES:
            waits = [one.wait for one in _started(run, begin) if least <= one.job.gpus <= most]
            means.append(sum(waits) / len(waits) / _HOUR if waits else None)
        names = [f"{least}" if least == most else f"{least} to {most}" for least, most in _SIZES[:-1]]
        figure.add_bar(x=[*names, "65 and more"], y=means, name=run.policy, marker_color=colour)
    figure.update_xaxes(title="GPUs of the job", type="category")
    figure.update_yaxes(title="mean wait in hours")
    return figure


def _usage(runs: Sequence[PolicyRun], gpus: int) -> tuple[go.Figure, go.Figure]:
    """GPUs in use over time, and those that were stranded, on the same axis of time."""
    used, stranded = go.Figure(), go.Figure()
    last = 0.0
    for run, colour in zip(runs, _colours(len(runs)), strict=True):
        series = series_of(run.record, gpus)
        days = [moment / _DAY for moment in series.times]
        last = max(last, days[-1])
        used.add_scatter(x=days, y=series.running_gpus, name=f"{run.policy}: in use", line={"color": colour})
        waiting = {"color": colour, "dash": "dot", "width": 1}
        used.add_scatter(x=days, y=series.waiting_gpus, name=f"{run.policy}: waiting", line=waiting)
        stranded.add_scatter(
            x=days, y=series.stranded_gpus, name=f"{run.policy}: stranded", line={"color": colour}
        )
    used.add_hline(
        y=gpus,
        line={"color": "#6b7280", "dash": "dash"},
        annotation_text="all GPUs",
        annotation_position="top left",
    )
    for figure in (used, stranded):
        figure.update_xaxes(title="days", range=[0, last])
        figure.update_yaxes(title="GPUs", rangemode="tozero")
    stranded.update_layout(height=280, showlegend=True)
    return used, stranded


def _longest(runs: Sequence[PolicyRun], begin: float) -> str:
    rows = [
        (
            run.policy,
            one.job.name,
            str(one.job.gpus),
            "never started" if math.isnan(one.start) else in_time(one.wait),
        )
        for run in runs
        for one in longest_waits(run.record, 5, begin)
    ]
    table = html_table(("Policy", "Job", "GPUs", "Wait"), rows)
    return f"<section><h2>Longest waits</h2>{table}</section>"


def _digests(runs: Sequence[PolicyRun]) -> str:
    rows = "".join(f"<p>{html.escape(run.policy)}: <code>{run.record.digest}</code></p>" for run in runs)
    return f"<section><h2>Digests</h2><p>Equal inputs give equal digests.</p>{rows}</section>"


def _colours(count: int) -> list[str]:
    return [_COLOURS[index % len(_COLOURS)] for index in range(count)]
