"""Measures every section and reports. A section is a function that returns its figures."""

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from bench import (
    completeness,
    devices,
    embedded_speed,
    engine_memory,
    engine_speed,
    forecasts,
    http_figures,
    large_instances,
    preemption,
    preemption_cost,
    simulations,
    topology,
    trees,
)
from bench.measuring import Figure
from bench.report import show, write
from posse.runtime.process.gc_tuning import collect_seldom

SECTIONS: tuple[tuple[str, Callable[[], list[Figure]]], ...] = (
    ("The engine alone", engine_speed.measure),
    ("Topology, the engine alone", topology.measure),
    ("Trees of groups, the engine alone", trees.measure),
    ("Devices, the engine alone", devices.measure),
    ("Preemption, the engine alone", preemption.measure),
    ("What preemption costs its victims", preemption_cost.measure),
    ("Completeness of the search", completeness.measure),
    ("Large trees, with the exact search", large_instances.measure),
    ("Forecasts", forecasts.measure),
    ("Simulations, on one core", simulations.measure),
    ("Memory of the engine", engine_memory.measure),
    ("The embedded cluster, in process", embedded_speed.measure),
    ("The API over HTTP", http_figures.measure),
)
RESULT = Path(__file__).parents[1] / "build" / "bench.json"


def main() -> None:
    argparse.ArgumentParser(prog="python -m bench", description=__doc__).parse_args()
    console = Console(width=None if Console().is_terminal else 160)
    collect_seldom()  # As `posse up` and `posse run` do.
    measured: list[tuple[str, list[Figure]]] = []
    for title, measure in SECTIONS:
        console.print(f"Measuring: {title} ...")
        measured.append((title, measure()))
    show(console, measured)
    write(RESULT, [figure for _, figures in measured for figure in figures])
    console.print(f"Written to {RESULT}")


if __name__ == "__main__":
    main()
