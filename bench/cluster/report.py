"""Results of the race as tables, as JSON and as a picture."""

import json
from pathlib import Path

from rich.table import Table

from bench.cluster.results import MIN_CPU_RATIO, MIN_SHARE_OF_BARE_CLIENT, Race, Result

_MIB = 2**20
_SCALE_WIDTH, _BAR, _LEFT = 420, 16, 250
_COLOURS = {"kube-scheduler": "#9aa4ae", "Posse": "#2f7d5b"}


def tables(races: list[Race], nodes: int) -> list[Table]:
    return [_speed(races, nodes), _details(races)]


def _speed(races: list[Race], nodes: int) -> Table:
    made = Table(
        title=f"Pods per second, {nodes:,} nodes",
        title_justify="left",
        caption="Bare client: measured right before each shape, "
        f"the aim is {MIN_SHARE_OF_BARE_CLIENT:.0%} of it. "
        f"CPU per pod: the goal is {MIN_CPU_RATIO:g} times less.",
        caption_justify="left",
    )
    for name in ("shape", "kube-scheduler", "Posse", "ratio", "goal", "bare client", "share", "CPU ratio"):
        made.add_column(name, justify="left" if name == "shape" else "right")
    for race in races:
        made.add_row(
            race.shape.name,
            _rate(race.kube_scheduler),
            _rate(race.posse),
            _figure(race.speed_ratio, ".1f", "x"),
            f"{race.shape.goal:g}x",
            f"{race.bare.binds:,.0f}",
            _figure(race.share_of_bare_client, ".0%"),
            _figure(race.cpu_ratio, ".1f", "x"),
        )
    return made


def _rate(result: Result | None) -> str:
    return "-" if result is None else f"{result.rate:,.0f}"


def _figure(value: float | None, form: str, unit: str = "") -> str:
    return "-" if value is None else f"{value:{form}}{unit}"


def _details(races: list[Race]) -> Table:
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
    for result in _results(races):
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
            f"{result.max_memory / _MIB:,.0f}",
        )
    return made


def _results(races: list[Race]) -> list[Result]:
    return [result for race in races for result in race.results]


def write(races: list[Race], nodes: int, folder: Path) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    figures, picture = folder / "bench-cluster.json", folder / "bench-cluster.svg"
    figures.write_text(json.dumps({"nodes": nodes, "races": list(map(_document, races))}, indent=2) + "\n")
    picture.write_text(_picture(races))
    return figures, picture


def _document(race: Race) -> dict[str, object]:
    rows = [
        {
            "contender": result.contender,
            "bound": result.bound,
            "podsPerSecond": round(result.rate, 1),
            "cpuSecondsBefore": round(result.cpu_before, 2),
            "cpuSecondsPerPod": round(result.cpu_per_pod, 6),
            "maxMemoryBytes": result.max_memory,
        }
        for result in race.results
    ]
    return {
        "shape": race.shape.name,
        "bareCreatesPerSecond": round(race.bare.creates, 1),
        "bareBindsPerSecond": round(race.bare.binds, 1),
        "results": rows,
    }


def _picture(races: list[Race]) -> str:
    """Bars side by side, all on one scale; a mark on each shows the goal as a share of the bare client."""
    marks = [
        (result, MIN_SHARE_OF_BARE_CLIENT * race.bare.binds) for race in races for result in race.results
    ]
    scale = _SCALE_WIDTH / max((max(result.rate, goal) for result, goal in marks), default=1.0)
    rows = [_bar(index, result, goal, scale) for index, (result, goal) in enumerate(marks)]
    height = (_BAR + 8) * len(rows) + 50
    note = f"red: {MIN_SHARE_OF_BARE_CLIENT:.0%} of a bare client right before the shape"
    style = (
        '<style>text{font:12px sans-serif;fill:#333}</style><rect width="100%" height="100%" fill="white"/>'
    )
    width = _LEFT + _SCALE_WIDTH + 130
    parts = "".join([style, *rows, f'<text x="{_LEFT}" y="{height - 14}">{note}</text>'])
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{parts}</svg>\n'


def _bar(index: int, result: Result, goal: float, scale: float) -> str:
    top = 12 + index * (_BAR + 8)
    length, mark = max(1.0, result.rate * scale), _LEFT + goal * scale
    label, colour = f"{result.shape.name}, {result.contender}", _COLOURS[result.contender]
    return (
        f'<text x="{_LEFT - 6}" y="{top + 12}" text-anchor="end" textLength="{min(240, 6 * len(label))}" '
        f'lengthAdjust="spacingAndGlyphs">{label}</text>'
        f'<rect x="{_LEFT}" y="{top}" width="{length:.0f}" height="{_BAR}" fill="{colour}"/>'
        f'<line x1="{mark:.0f}" y1="{top - 3}" x2="{mark:.0f}" y2="{top + _BAR + 3}" stroke="#c0392b"/>'
        f'<text x="{_LEFT + length + 4:.0f}" y="{top + 12}">{result.rate:,.0f}</text>'
    )
