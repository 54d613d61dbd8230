"""`format` of strings: clauses such as %s, %d and %.2f, filled with the items of a list."""

import math
import re
from collections.abc import Callable, Mapping

from posse.cel.errors import CostError, EvaluationError
from posse.cel.functions import method
from posse.cel.library.conversions import text_of_float
from posse.cel.library.times import duration_text, timestamp_text
from posse.cel.syntax import UInt
from posse.cel.types import DYN, STRING, Type, list_of
from posse.cel.values import Duration, Timestamp, Value, plain_key, type_of

_CLAUSE = re.compile(r"%(?:%|(?:\.([0-9]+))?(.?))", re.DOTALL)
_PRECISION = 6
_MAX_PRECISION = 1000
_MAX_LENGTH = 1_000_000


def _format(text: str, arguments: list[Value]) -> str:
    items = iter(arguments)

    def filled(found: re.Match[str]) -> str:
        if found.group() == "%%":
            return "%"
        precision, verb = found.groups()
        clause = _CLAUSES.get(verb)
        if clause is None:
            raise EvaluationError(
                f"could not parse formatting clause: unrecognized formatting clause {verb!r}"
            )
        try:
            item = next(items)
        except StopIteration:
            raise EvaluationError("index out of range in arguments of format") from None
        places = int(precision) if precision else _PRECISION
        if places > _MAX_PRECISION:
            raise CostError
        return clause(item, places)

    result = _CLAUSE.sub(filled, text)
    if len(result) > _MAX_LENGTH:
        raise CostError
    return result


def _as_text(value: Value, _precision: int = 0) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_as_text, value))}]"
    if isinstance(value, Mapping):
        pairs = sorted((_as_text(plain_key(key)), _as_text(item)) for key, item in value.items())
        return f"{{{', '.join(f'{key}: {item}' for key, item in pairs)}}}"
    run = _TEXTS.get(type(value))
    if run is None:
        raise EvaluationError(
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
            f"durations, and timestamps, was given {type_of(value)}"
        )
    return run(value)


_TEXTS: dict[type, Callable[[Value], str]] = {
    str: str,
    bool: lambda value: "true" if value else "false",
    int: str,
    UInt: lambda value: str(int(value)),
    float: text_of_float,
    bytes: lambda value: value.decode(errors="replace"),
    type(None): lambda _: "null",
    Type: str,
    Duration: duration_text,
    Timestamp: timestamp_text,
}


def _decimal(value: Value, _precision: int) -> str:
    return str(_integer("decimal", value))


def _octal(value: Value, _precision: int) -> str:
    return f"{_integer('octal', value):o}"


def _binary(value: Value, _precision: int) -> str:
    return f"{value if isinstance(value, bool) else _integer('binary', value):b}"


def _hexadecimal(value: Value, _precision: int) -> str:
    if isinstance(value, str | bytes):
        return (value.encode() if isinstance(value, str) else value).hex()
    return f"{_integer('hex', value):x}"


def _integer(clause: str, value: Value) -> int:
    if type(value) not in (int, UInt):
        raise EvaluationError(f"{clause} clause can only be used on integers, was given {type_of(value)}")
    return int(value)


def _double(form: str) -> Callable[[Value, int], str]:
    def run(value: Value, precision: int) -> str:
        if type(value) not in (int, UInt, float):
            raise EvaluationError(f"clause can only be used on doubles, was given {type_of(value)}")
        number = float(value)
        if not math.isfinite(number):
            return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
        return f"{number:.{precision}{form}}"

    return run


_CLAUSES: dict[str, Callable[[Value, int], str]] = {
    "s": _as_text,
    "d": _decimal,
    "o": _octal,
    "b": _binary,
    "x": _hexadecimal,
    "X": lambda value, precision: _hexadecimal(value, precision).upper(),
    "f": _double("f"),
    "e": _double("e"),
}

FORMATTING = {"format": [method(STRING, list_of(DYN), to=STRING, run=_format)]}
