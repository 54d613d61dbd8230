"""Conversions between types, and optional values."""

import math
import re
from collections.abc import Callable

from posse.cel.errors import EvaluationError
from posse.cel.functions import function, lazy_method, method
from posse.cel.library.operators import checked_int, checked_uint
from posse.cel.syntax import UInt
from posse.cel.types import BOOL, BYTES, DOUBLE, DYN, INT, STRING, TYPE, UINT, A, optional_of
from posse.cel.values import NOTHING, Optional, Value, type_of

_INTEGER = re.compile(r"[+-]?[0-9]{1,30}")
_FLOAT = re.compile(r"(?i)[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?(?:inf|infinity)|nan")
_TRUTH = {"true": True, "1": True, "t": True, "TRUE": True, "True": True}
_TRUTH |= {"false": False, "0": False, "f": False, "FALSE": False, "False": False}


def _int_of_text(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise EvaluationError(f"type conversion error from string to int: {text[:64]!r}")
    return checked_int(int(text))


def _uint_of_text(text: str) -> UInt:
    if not _INTEGER.fullmatch(text):
        raise EvaluationError(f"type conversion error from string to uint: {text[:64]!r}")
    return checked_uint(int(text))


def _truncated(number: float) -> int:
    if not math.isfinite(number):
        raise EvaluationError("integer overflow")
    return int(number)


def _float_of_text(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise EvaluationError(f"type conversion error from string to double: {text[:64]!r}")
    return float(text)


def _truth_of_text(text: str) -> bool:
    if text not in _TRUTH:
        raise EvaluationError(f"type conversion error from string to bool: {text[:64]!r}")
    return _TRUTH[text]


def text_of_float(number: float) -> str:
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if math.isnan(number):
        return "NaN"
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _text_of_bytes(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from error


def _value(optional: Optional) -> Value:
    if not optional.is_set:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _or(optional: Value, other: Callable[[], Value]) -> Value:
    return optional if _is_set(optional) else other()


def _or_value(optional: Value, other: Callable[[], Value]) -> Value:
    return optional.value if _is_set(optional) else other()


def _is_set(optional: Value) -> bool:
    if isinstance(optional, Optional):
        return optional.is_set
    raise EvaluationError("no such overload")


def _is_zero(value: Value) -> bool:
    return value is None or value in (False, 0, "", b"") or (isinstance(value, list | dict) and not value)


CONVERSIONS = {
    "int": [
        function(INT, to=INT, run=int),
        function(UINT, to=INT, run=lambda number: checked_int(int(number))),
        function(DOUBLE, to=INT, run=lambda number: checked_int(_truncated(number))),
        function(STRING, to=INT, run=_int_of_text),
    ],
    "uint": [
        function(UINT, to=UINT, run=UInt),
        function(INT, to=UINT, run=checked_uint),
        function(DOUBLE, to=UINT, run=lambda number: checked_uint(_truncated(number))),
        function(STRING, to=UINT, run=_uint_of_text),
    ],
    "double": [
        function(DOUBLE, to=DOUBLE, run=float),
        function(INT, to=DOUBLE, run=float),
        function(UINT, to=DOUBLE, run=float),
        function(STRING, to=DOUBLE, run=_float_of_text),
    ],
    "string": [
        function(STRING, to=STRING, run=str),
        function(BOOL, to=STRING, run=lambda value: "true" if value else "false"),
        function(INT, to=STRING, run=str),
        function(UINT, to=STRING, run=lambda number: str(int(number))),
        function(DOUBLE, to=STRING, run=text_of_float),
        function(BYTES, to=STRING, run=_text_of_bytes),
    ],
    "bool": [function(BOOL, to=BOOL, run=bool), function(STRING, to=BOOL, run=_truth_of_text)],
    "bytes": [function(BYTES, to=BYTES, run=bytes), function(STRING, to=BYTES, run=str.encode)],
    "type": [function(DYN, to=TYPE, run=type_of)],
    "dyn": [function(DYN, to=DYN, run=lambda value: value)],
    "optional.of": [function(A, to=optional_of(A), run=lambda value: Optional(True, value))],
    "optional.ofNonZeroValue": [
        function(
            A, to=optional_of(A), run=lambda value: NOTHING if _is_zero(value) else Optional(True, value)
        )
    ],
    "optional.none": [function(to=optional_of(DYN), run=lambda: NOTHING)],
    "hasValue": [method(optional_of(A), to=BOOL, run=lambda optional: optional.is_set)],
    "value": [method(optional_of(A), to=A, run=_value)],
    "or": [lazy_method(optional_of(A), optional_of(A), to=optional_of(A), run=_or)],
    "orValue": [lazy_method(optional_of(A), A, to=A, run=_or_value)],
}
