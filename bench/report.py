"""Figures as a table for people and as JSON for comparisons."""

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.measuring import Figure

_NOTE = (
    "kube-scheduler 1.37 was measured end to end on 2 cores with an API server and etcd: "
    "another quantity, beside the engine alone only as a landmark."
)


def table(title: str, figures: Sequence[Figure]) -> Table:
    compared = any(figure.kube_scheduler for figure in figures)
    made = Table(
        title=title, title_justify="left", caption=_NOTE if compared else None, caption_justify="left"
    )
    made.add_column("what")
    made.add_column("value", justify="right")
    made.add_column("unit")
    made.add_column("made of")
    if compared:
        made.add_column("kube-scheduler, end to end")
    for figure in figures:
        landmark = [figure.kube_scheduler] if compared else []
        made.add_row(figure.name, readable(figure.value), figure.unit, figure.detail, *landmark)
    return made


def readable(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def show(console: Console, sections: Sequence[tuple[str, Sequence[Figure]]]) -> None:
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}")
    for title, figures in sections:
        console.print(table(title, figures))


def write(path: Path, figures: Sequence[Figure]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = [{"name": f.name, "value": round(f.value, 4), "unit": f.unit} for f in figures]
    path.write_text(json.dumps(listed, indent=2) + "\n")
