"""Formats Tables of the server for a terminal."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

GAP = "   "


def table_lines(table: Json, *, wide: bool, with_namespace: bool) -> list[str]:
    """Return header and rows; columns of lower priority show only when `wide`."""
    definitions = table["columnDefinitions"]
    shown = [index for index, column in enumerate(definitions) if wide or not column.get("priority")]
    header = [definitions[index]["name"].upper() for index in shown]
    rows = [[_cell(row["cells"][index]) for index in shown] for row in table["rows"]]
    if with_namespace:
        header.insert(0, "NAMESPACE")
        for cells, row in zip(rows, table["rows"], strict=True):
            cells.insert(0, row["object"]["metadata"].get("namespace", ""))
    return aligned([header, *rows])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
