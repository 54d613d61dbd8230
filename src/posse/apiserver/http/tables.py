"""Objects as rows of a Table: what `kubectl get` prints.

The cells come from its columns. Which part of the object travels along (all, metadata or none of it)
is the client's choice; kubectl takes the metadata.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from posse.kinds.machinery.errors import ApiError, bad_request
from posse.kinds.machinery.kind import Json, PrintedColumn

Columns = Sequence[PrintedColumn]
INCLUDABLE = ("Metadata", "Object", "None")


def table(columns: Columns, rows: Iterable[Json], list_metadata: Json, *, headers: bool = True) -> Json:
    definitions = [_definition(column) for column in columns] if headers else None
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": list_metadata,
        "columnDefinitions": definitions,
        "rows": list(rows),
    }


def row(columns: Columns, obj: Json, included: Any, now: float) -> Json:
    """Make one row; `obj` is in storage form, `included` what of it the client asked for."""
    return {"cells": [column.cell(obj, now) for column in columns], "object": included}


def bookmark_row(columns: Columns, obj: Json) -> Json:
    """A bookmark has nothing to show but its metadata, which says where the watch is."""
    return {"cells": [None for _ in columns], "object": partial_metadata(obj)}


def partial_metadata(obj: Json) -> Json:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": obj.get("metadata", {}),
    }


def checked_include(asked: str) -> str:
    """Return the includeObject to use, Metadata when nothing was asked for."""
    if asked and asked not in INCLUDABLE:
        raise _unknown_include(asked)
    return asked or "Metadata"


def _unknown_include(asked: str) -> ApiError:
    return bad_request(f'includeObject "{asked}" is not known; use one of {", ".join(INCLUDABLE)}')


def _definition(column: PrintedColumn) -> Json:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
