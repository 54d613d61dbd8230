"""The cells of `kubectl get` that several kinds share. Cells are given the stored form of an object."""

from collections.abc import Callable
from typing import Any

from posse.kinds.machinery.durations import since
from posse.kinds.machinery.kind import Json, PrintedColumn

NONE = "<none>"
UNKNOWN = "<unknown>"


def name_cell(obj: Json, _now: float) -> str:
    return str(obj["metadata"]["name"])


def _age(obj: Json, now: float) -> str:
    return since(obj["metadata"].get("creationTimestamp"), now)


def value_at(*path: str, absent: Any) -> Callable[[Json, float], Any]:
    """A cell that shows the value at a path of the object."""

    def cell(obj: Json, _now: float) -> Any:
        value: Any = obj
        for step in path:
            value = (value or {}).get(step)
        return absent if value in (None, "") else value

    return cell


NAME = PrintedColumn("Name", "string", "Name of the object, unique in its namespace.", 0, name_cell, "name")
AGE = PrintedColumn("Age", "string", "Time since the object was created.", 0, _age)
NAME_AND_AGE = (NAME, AGE)
SCALE_COLUMNS = (
    NAME,
    PrintedColumn(
        "Desired", "integer", "How many parts it is to have.", 0, value_at("spec", "replicas", absent=0)
    ),
    PrintedColumn("Available", "integer", "How many it has.", 0, value_at("status", "replicas", absent=0)),
    AGE,
)
