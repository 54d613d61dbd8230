"""Finds keys that a JSON text has twice in one object, of which all but the last are lost."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any


class _Repeated(dict[str, Any]):
    """An object some keys of which came more than once."""

    repeated: tuple[str, ...] = ()


def duplicate_fields(body: bytes) -> list[str]:
    """Return the paths of such keys in a text that is known to be JSON, as Kubernetes writes them."""
    # Numbers stay text: Python refuses to read very long ones.
    found = json.loads(body, object_pairs_hook=_object, parse_int=str, parse_float=str)
    return list(dict.fromkeys(_paths("", found)))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = _Repeated(pairs)
    if len(made) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        made.repeated = tuple(key for key, count in counts.items() if count > 1)
    return made


def _paths(path: str, value: Any) -> Iterator[str]:
    if isinstance(value, _Repeated):
        yield from (f"{path}.{key}" if path else key for key in value.repeated)
        for key, member in value.items():
            yield from _paths(f"{path}.{key}" if path else key, member)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _paths(f"{path}[{index}]", member)
