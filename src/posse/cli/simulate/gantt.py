"""Which job was on which node when, as a chart; by rack where the cluster has racks."""

import html
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import plotly.graph_objects as go

from posse.simulation.comparison import PolicyRun
from posse.simulation.record import JobRecord, Run

_DAY = 86400.0
_BARS = 3000
"""A browser cannot show all of a long trace."""
_ROW_PIXELS, _LEAST_PIXELS, _MOST_PIXELS = 18, 420, 1600


class _Bar(NamedTuple):
    place: str
    """A node, or its rack and the node."""
    record: JobRecord
    run: Run
    is_evicted: bool


def gantt(run: PolicyRun, racks: Mapping[str, str]) -> go.Figure:
    """The last runs of all jobs. With racks, nodes of one rack stand together below its name."""
    bars = list(_bars(run, racks))
    axis = [[racks.get(one.place, "-") for one in bars], [one.place for one in bars]]
    figure = go.Figure(
        go.Bar(
            base=[one.run.start / _DAY for one in bars],
            x=[(one.run.end - one.run.start) / _DAY for one in bars],
            y=axis if racks else axis[1],
            orientation="h",
            marker={
                "color": [one.record.job.gpus for one in bars],
                "colorscale": "Viridis",
                "colorbar_title": "GPUs",
                "pattern": {"shape": ["/" if one.is_evicted else "" for one in bars], "size": 6},
            },
            hovertext=[_hover(one, racks) for one in bars],
            hoverinfo="text",
        )
    )
    places = len({one.place for one in bars})
    figure.update_layout(height=min(_MOST_PIXELS, max(_LEAST_PIXELS, places * _ROW_PIXELS)))
    figure.update_xaxes(title="days")
    if racks:
        figure.update_yaxes(title="rack and node", autorange="reversed")
    else:
        figure.update_yaxes(title="node", categoryorder="category descending")
    return figure


def _bars(run: PolicyRun, racks: Mapping[str, str]) -> Iterator[_Bar]:
    found: list[_Bar] = []
    runs = [(record, one) for record in run.record.jobs for one in record.runs]
    for record, one in sorted(runs, key=lambda pair: pair[1].start, reverse=True):
        is_evicted = one in record.evicted_runs
        found += [_Bar(node, record, one, is_evicted) for node in sorted(set(one.nodes))]
        if len(found) > _BARS:
            break
    # The axis shows racks and nodes in the order of the bars.
    return iter(sorted(found, key=lambda bar: (racks.get(bar.place, "-"), bar.place)))


def _hover(bar: _Bar, racks: Mapping[str, str]) -> str:
    job = bar.record.job
    where = f"{racks[bar.place]}, {bar.place}" if bar.place in racks else bar.place
    end = ", evicted" if bar.is_evicted else ""
    return html.escape(f"{job.name}: {job.gpus} GPUs on {where}{end}")
