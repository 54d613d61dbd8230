"""Filling in JSON objects that have not been checked yet.

Defaults are filled in before an object is decoded, so anything may be malformed. What has the wrong type is
left as it is for decoding to refuse, and its defaults fall into a dict that is dropped.
"""

from typing import Any

from posse.kinds.machinery.kind import Json


def section(obj: Json, name: str) -> Json:
    """The object under `name`, made when it is absent."""
    value = obj.get(name)
    if value is None:
        value = obj[name] = {}
    return value if isinstance(value, dict) else {}


def entries(obj: Json, name: str) -> list[Json]:
    """The objects in the list under `name`."""
    value = obj.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def fill(obj: Json, name: str, value: Any) -> None:
    """Null counts as absent."""
    if obj.get(name) is None:
        obj[name] = value


def fill_text(obj: Json, name: str, value: str) -> None:
    """For fields where the empty text, too, means absent."""
    if obj.get(name) in (None, ""):
        obj[name] = value
