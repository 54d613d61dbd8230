"""The report of a simulation: one HTML file that needs no network."""

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from posse.cli.simulate.words import divergence_text, in_time
from posse.simulation.comparison import PolicyRun, longest_waits, series_of
from posse.simulation.record import JobRecord

Json = dict[str, Any]

_HOUR, _DAY = 3600.0, 86400.0
_SIZES = ((1, 1), (2, 4), (5, 8), (9, 16), (17, 64), (65, 10**9))
_GANTT_BARS = 3000
_COLOURS = ("#2563eb", "#d97706", "#059669", "#db2777", "#7c3aed", "#0891b2")


def report_page(data: Json, runs: Sequence[PolicyRun], gpus: int) -> str:
    begin = float(data["warmUpSeconds"])
    sections = [
        ("Waiting times", "How many jobs had started after how long a wait.", _wait_cdf(runs, begin)),
        (
            "Mean wait by size",
            "Large gangs wait longer where small jobs pass them.",
            _wait_by_size(runs, begin),
        ),
        (
            "GPUs in use and asked for",
            "Solid: in use. Dotted: asked for by waiting jobs.",
            _usage(runs, gpus),
        ),
        ("Jobs on nodes", f"The first policy ({runs[0].policy}), its last jobs.", _gantt(runs[0])),
    ]
    body = "".join(
        f"<section><h2>{title}</h2><p>{html.escape(text)}</p>{_chart(figure)}</section>"
        for title, text, figure in sections
    )
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Simulation of {html.escape(data['trace'])}</title><style>{_STYLE}</style>"
        f"<script>{get_plotlyjs()}</script></head><body><main>"
        f"<h1>{html.escape(data['trace'])}: {data['nodes']} nodes, {data['gpus']} GPUs</h1>"
        f"{_table(runs)}{_differences(runs)}{body}{_longest(runs, begin)}{_digests(runs)}"
        "</main></body></html>\n"
    )


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;color:#1f2937;margin:0;background:#fff}"
    "main{max-width:1100px;margin:auto;padding:1rem}table{border-collapse:collapse;margin:1rem 0}"
    "th,td{padding:.3rem .8rem;border-bottom:1px solid #d1d5db;text-align:right}"
    "th:first-child,td:first-child{text-align:left}h1{font-size:1.6rem}h2{font-size:1.2rem;margin:2rem 0 0}"
    "p{margin:.2rem 0;color:#4b5563}code{font-size:.85rem;overflow-wrap:anywhere}"
)


def _chart(figure: go.Figure) -> str:
    figure.update_layout(margin={"l": 60, "r": 20, "t": 20, "b": 50}, height=420, template="plotly_white")
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False}))


def _table(runs: Sequence[PolicyRun]) -> str:
    header = ("Policy", "Started", "Mean wait", "Above 8 GPUs", "P95", "Longest", "Slowdown", "GPUs used")
    rows = [
        (
            run.policy,
            f"{run.figures.started} of {run.figures.jobs}",
            in_time(run.figures.mean_wait),
            in_time(run.figures.mean_wait_large),
            in_time(run.figures.p95_wait),
            in_time(run.figures.longest_wait),
            f"{run.figures.mean_slowdown:.1f}",
            f"{run.figures.utilization:.1%}",
        )
        for run in runs
    ]
    return _html_table(header, rows)


def _html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th scope='col'>{html.escape(cell)}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _differences(runs: Sequence[PolicyRun]) -> str:
    return "".join(f"<p>{html.escape(divergence_text(runs[0], run))}</p>" for run in runs[1:])


def _started(run: PolicyRun, begin: float) -> list[JobRecord]:
    return [one for one in run.record.within(begin) if not math.isnan(one.start)]


def _wait_cdf(runs: Sequence[PolicyRun], begin: float) -> go.Figure:
    figure = go.Figure()
    for run, colour in zip(runs, _colours(len(runs)), strict=True):
        for name, dash, least in (("all jobs", "solid", 0), ("above 8 GPUs", "dot", 9)):
            waits = np.sort([one.wait for one in _started(run, begin) if one.job.gpus >= least])
            if not waits.size:
                continue
            shown = np.unique(np.linspace(0, waits.size - 1, 500).astype(int))
            figure.add_scatter(
                x=np.maximum(waits[shown], 1) / _HOUR,
                y=(shown + 1) / waits.size,
                name=f"{run.policy}, {name}",
                line={"color": colour, "dash": dash},
            )
    figure.update_xaxes(type="log", title="wait in hours")
    figure.update_yaxes(title="share of jobs started", tickformat=".0%")
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


def _usage(runs: Sequence[PolicyRun], gpus: int) -> go.Figure:
    figure = go.Figure()
    for run, colour in zip(runs, _colours(len(runs)), strict=True):
        series = series_of(run.record, gpus)
        days = [moment / _DAY for moment in series.times]
        figure.add_scatter(
            x=days, y=series.running_gpus, name=f"{run.policy}: in use", line={"color": colour}
        )
        waiting = {"color": colour, "dash": "dot", "width": 1}
        figure.add_scatter(x=days, y=series.waiting_gpus, name=f"{run.policy}: waiting", line=waiting)
    figure.add_hline(y=gpus, line={"color": "#6b7280", "dash": "dash"}, annotation_text="all GPUs")
    figure.update_xaxes(title="days")
    figure.update_yaxes(title="GPUs")
    return figure


def _gantt(run: PolicyRun) -> go.Figure:
    """Which job was on which node when. Only the last ones: a browser cannot show all of a long trace."""
    bars: list[tuple[str, JobRecord]] = []
    for record in sorted(_started(run, 0.0), key=lambda one: one.start, reverse=True):
        bars += [(node, record) for node in sorted(set(record.nodes))]
        if len(bars) > _GANTT_BARS:
            break
    figure = go.Figure(
        go.Bar(
            base=[one.start / _DAY for _, one in bars],
            x=[one.job.duration / _DAY for _, one in bars],
            y=[node for node, _ in bars],
            orientation="h",
            marker={
                "color": [one.job.gpus for _, one in bars],
                "colorscale": "Viridis",
                "colorbar_title": "GPUs",
            },
            hovertext=[f"{html.escape(one.job.name)}: {one.job.gpus} GPUs" for _, one in bars],
            hoverinfo="text",
        )
    )
    figure.update_xaxes(title="days")
    figure.update_yaxes(title="node", categoryorder="category descending")
    return figure


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
    table = _html_table(("Policy", "Job", "GPUs", "Wait"), rows)
    return f"<section><h2>Longest waits</h2>{table}</section>"


def _digests(runs: Sequence[PolicyRun]) -> str:
    rows = "".join(f"<p>{html.escape(run.policy)}: <code>{run.record.digest}</code></p>" for run in runs)
    return f"<section><h2>Digests</h2><p>Equal inputs give equal digests.</p>{rows}</section>"


def _colours(count: int) -> list[str]:
    return [_COLOURS[index % len(_COLOURS)] for index in range(count)]
