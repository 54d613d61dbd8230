"""Functions on strings. Patterns are those of RE2, whose matching takes linear time."""

from typing import Any

import re2

from posse.cel.errors import CostError, EvaluationError
from posse.cel.functions import function, method
from posse.cel.types import BOOL, BYTES, INT, STRING, list_of
from posse.cel.values import Value

_STRINGS = list_of(STRING)
# What split and replace would do without a limit.
_NO_LIMIT = -1
# Of what one call may make.
_LENGTH_MAX = 1_000_000


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise EvaluationError(f"error parsing regexp: {pattern!r}") from error


def _matches(text: str, pattern: str) -> bool:
    return _compiled(pattern).search(text) is not None


def _find(text: str, pattern: str) -> str:
    found = _compiled(pattern).search(text)
    return str(found.group()) if found else ""


def _find_all(text: str, pattern: str, limit: int = _NO_LIMIT) -> list[str]:
    found = [str(match.group()) for match in _compiled(pattern).finditer(text)]
    return found if limit < 0 else found[:limit]


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not 0 <= start <= len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, last: int | None = None) -> int:
    if last is None:
        return text.rfind(part)
    if not 0 <= last <= len(text):
        raise EvaluationError(f"index out of range: {last}")
    return text.rfind(part, 0, last + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise EvaluationError(f"index out of range: {start}")
    if not 0 <= stop <= len(text):
        raise EvaluationError(f"index out of range: {stop}")
    if start > stop:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {stop}")
    return text[start:stop]


def _replace(text: str, old: str, new: str, count: int = _NO_LIMIT) -> str:
    if text.count(old) * len(new) > _LENGTH_MAX:
        raise CostError
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = _NO_LIMIT) -> list[str]:
    if limit == 0:
        return []
    if separator == "":
        parts = list(text)
        return (
            parts if limit < 0 or limit >= len(parts) else [*parts[: limit - 1], "".join(parts[limit - 1 :])]
        )
    return text.split(separator, limit - 1 if limit > 0 else _NO_LIMIT)


def _join(parts: list[Value], separator: str = "") -> str:
    if not all(type(part) is str for part in parts):
        raise EvaluationError("no such overload")
    if len(parts) * len(separator) > _LENGTH_MAX:
        raise CostError
    return separator.join(parts)


def _lower_ascii(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _upper_ascii(text: str) -> str:
    return "".join(char.upper() if char.isascii() else char for char in text)


_QUOTED = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
_QUOTED |= {"\\": r"\\", '"': r"\""}


def _quote(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


STRINGS = {
    "size": [
        function(STRING, to=INT, run=len),
        method(STRING, to=INT, run=len),
        function(BYTES, to=INT, run=len, cost_per_size=0),
        method(BYTES, to=INT, run=len, cost_per_size=0),
    ],
    "contains": [method(STRING, STRING, to=BOOL, run=lambda text, part: part in text)],
    "startsWith": [method(STRING, STRING, to=BOOL, run=str.startswith)],
    "endsWith": [method(STRING, STRING, to=BOOL, run=str.endswith)],
    "matches": [
        method(STRING, STRING, to=BOOL, run=_matches, cost_per_size=0.5),
        function(STRING, STRING, to=BOOL, run=_matches, cost_per_size=0.5),
    ],
    "find": [method(STRING, STRING, to=STRING, run=_find, cost_per_size=0.5)],
    "findAll": [
        method(STRING, STRING, to=_STRINGS, run=_find_all, cost_per_size=0.5),
        method(STRING, STRING, INT, to=_STRINGS, run=_find_all, cost_per_size=0.5),
    ],
    "charAt": [method(STRING, INT, to=STRING, run=_char_at)],
    "indexOf": [
        method(STRING, STRING, to=INT, run=_index_of),
        method(STRING, STRING, INT, to=INT, run=_index_of),
    ],
    "lastIndexOf": [
        method(STRING, STRING, to=INT, run=_last_index_of),
        method(STRING, STRING, INT, to=INT, run=_last_index_of),
    ],
    "substring": [
        method(STRING, INT, to=STRING, run=_substring),
        method(STRING, INT, INT, to=STRING, run=_substring),
    ],
    "replace": [
        method(STRING, STRING, STRING, to=STRING, run=_replace),
        method(STRING, STRING, STRING, INT, to=STRING, run=_replace),
    ],
    "split": [
        method(STRING, STRING, to=_STRINGS, run=_split),
        method(STRING, STRING, INT, to=_STRINGS, run=_split),
    ],
    "join": [
        method(_STRINGS, to=STRING, run=_join),
        method(_STRINGS, STRING, to=STRING, run=_join),
    ],
    "lowerAscii": [method(STRING, to=STRING, run=_lower_ascii)],
    "upperAscii": [method(STRING, to=STRING, run=_upper_ascii)],
    "trim": [method(STRING, to=STRING, run=str.strip)],
    "strings.quote": [function(STRING, to=STRING, run=_quote)],
}
