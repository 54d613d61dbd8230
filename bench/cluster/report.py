"""Results of the race as a table, as JSON, and as a picture."""

import json
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from bench.cluster.race import Result
from bench.cluster.shapes import Shape

_MIB = 2**20
_SCALE_WIDTH, _BAR, _LEFT = 420, 16, 250
_COLOURS = {"kube-scheduler": "#9aa4ae", "Posse": "#2f7d5b"}


@dataclass(frozen=True, slots=True)
class Report:
    nodes: int
    creates: float
    binds: float
    """Per second, by a client that does nothing else."""
    results: tuple[Result, ...]

    def of(self, shape: Shape, contender: str) -> Result | None:
        return next((r for r in self.results if r.shape == shape and r.contender == contender), None)

    def ratio(self, shape: Shape) -> float | None:
        """How many times as fast as kube-scheduler Posse was; None where one of them did not run."""
        ours, theirs = self.of(shape, "Posse"), self.of(shape, "kube-scheduler")
        return ours.rate / theirs.rate if ours and theirs and theirs.rate else None

    def missed_goals(self) -> list[str]:
        """What was to be reached and was not, a line each; how fast Posse was to be only where both ran."""
        missed = [
            f"{result.contender}: {result.bound:,} of {result.shape.name} bound"
            for result in self.results
            if result.bound < result.shape.pod_count
        ]
        for shape in dict.fromkeys(result.shape for result in self.results):
            ours, theirs, ratio = self.of(shape, "Posse"), self.of(shape, "kube-scheduler"), self.ratio(shape)
            if ours is None or theirs is None or ratio is None:
                continue
            if ratio < shape.goal:
                missed.append(f"{shape.name}: {ratio:.1f} times as fast, {shape.goal:g} asked")
            if ours.rate < self.binds / 2:
                missed.append(
                    f"{shape.name}: {ours.rate / self.binds:.0%} of the bare client's binds, half asked"
                )
            if shape.gangs and ours.cpu_per_pod >= theirs.cpu_per_pod:
                missed.append(f"{shape.name}: no less CPU per pod than kube-scheduler")
        return missed


def tables(report: Report) -> list[Table]:
    return [_speed(report), _details(report)]


def _speed(report: Report) -> Table:
    raw = f"A bare client: {report.creates:,.0f} creates/s, {report.binds:,.0f} binds/s."
    made = Table(
        title=f"Pods per second, {report.nodes:,} nodes",
        title_justify="left",
        caption=raw,
        caption_justify="left",
    )
    for name in ("shape", "kube-scheduler", "Posse", "ratio", "goal", "of the bare client's binds"):
        made.add_column(name, justify="left" if name == "shape" else "right")
    for shape in dict.fromkeys(result.shape for result in report.results):
        ours, theirs = report.of(shape, "Posse"), report.of(shape, "kube-scheduler")
        ratio = report.ratio(shape)
        made.add_row(
            shape.name,
            f"{theirs.rate:,.0f}" if theirs else "-",
            f"{ours.rate:,.0f}" if ours else "-",
            f"{ratio:.1f}x" if ratio is not None else "-",
            f"{shape.goal:g}x",
            f"{100 * ours.rate / report.binds:.0f} %" if ours else "-",
        )
    return made


def _details(report: Report) -> Table:
    made = Table(title="What it took", title_justify="left")
    columns = (
        "shape",
        "who",
        "bound",
        "seconds",
        "p50 s",
        "p99 s",
        "CPU s",
        "ms per pod",
        "CPU s before",
        "MiB",
    )
    for name in columns:
        made.add_column(name, justify="left" if name in {"shape", "who"} else "right")
    for result in report.results:
        made.add_row(
            result.shape.name,
            result.contender,
            f"{result.bound:,} of {result.shape.pod_count:,}",
            f"{result.seconds:.2f}",
            f"{result.latency(0.5):.2f}" if result.bound else "-",
            f"{result.latency(0.99):.2f}" if result.bound else "-",
            f"{result.cpu_seconds:.2f}",
            f"{1000 * result.cpu_per_pod:.2f}",
            f"{result.cpu_before:.1f}",
            f"{result.most_memory / _MIB:,.0f}",
        )
    return made


def write(report: Report, folder: Path) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    figures, picture = folder / "bench-cluster.json", folder / "bench-cluster.svg"
    figures.write_text(json.dumps(_document(report), indent=2) + "\n")
    picture.write_text(_picture(report))
    return figures, picture


def _document(report: Report) -> dict[str, object]:
    rows = [
        {
            "shape": result.shape.name,
            "contender": result.contender,
            "bound": result.bound,
            "podsPerSecond": round(result.rate, 1),
            "cpuSecondsBefore": round(result.cpu_before, 2),
            "cpuSecondsPerPod": round(result.cpu_per_pod, 6),
            "mostMemoryBytes": result.most_memory,
        }
        for result in report.results
    ]
    return {
        "nodes": report.nodes,
        "rawCreatesPerSecond": round(report.creates, 1),
        "rawBindsPerSecond": round(report.binds, 1),
        "results": rows,
    }


def _picture(report: Report) -> str:
    """Bars side by side, all on one scale; the line is half of what a bare client binds."""
    most = max([result.rate for result in report.results] + [report.binds])
    scale = _SCALE_WIDTH / most
    rows = [_bar(index, result, scale) for index, result in enumerate(report.results)]
    height = (_BAR + 8) * len(rows) + 50
    half = _LEFT + report.binds / 2 * scale
    line = f'<line x1="{half:.0f}" y1="10" x2="{half:.0f}" y2="{height - 30}" stroke="#c0392b" stroke-dasharray="4"/>'
    note = f'<text x="{half + 4:.0f}" y="{height - 14}">half of a bare client: {report.binds / 2:,.0f} pods/s</text>'
    style = (
        '<style>text{font:12px sans-serif;fill:#333}</style><rect width="100%" height="100%" fill="white"/>'
    )
    width = _LEFT + _SCALE_WIDTH + 130
    parts = "".join([style, *rows, line, note])
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{parts}</svg>\n'


def _bar(index: int, result: Result, scale: float) -> str:
    top = 12 + index * (_BAR + 8)
    length = max(1.0, result.rate * scale)
    label = f"{result.shape.name}, {result.contender}"
    return (
        f'<text x="{_LEFT - 6}" y="{top + 12}" text-anchor="end" textLength="{min(240, 6 * len(label))}" '
        f'lengthAdjust="spacingAndGlyphs">{label}</text>'
        f'<rect x="{_LEFT}" y="{top}" width="{length:.0f}" height="{_BAR}" fill="{_COLOURS[result.contender]}"/>'
        f'<text x="{_LEFT + length + 4:.0f}" y="{top + 12}">{result.rate:,.0f}</text>'
    )
