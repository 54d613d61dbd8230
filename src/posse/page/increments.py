"""What changed between two states of the page's data: tables of rows by name, and single values."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def increment(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """Rows that are new or differ, None for rows that are gone; other values as a whole if they differ."""
    found: Json = {}
    for name, value in after.items():
        known = before.get(name)
        if isinstance(value, dict) and isinstance(known, dict):
            rows = {key: row for key, row in value.items() if known.get(key) != row}
            rows |= dict.fromkeys(key for key in known if key not in value)
            if rows:
                found[name] = rows
        elif known != value:
            found[name] = value
    return found
