"""Operators: arithmetic on 64 bits, comparison, and membership."""

import math
import operator
from collections.abc import Callable, Mapping

from posse.cel.errors import EvaluationError
from posse.cel.functions import Overload, function
from posse.cel.syntax import UInt
from posse.cel.types import BOOL, BYTES, DOUBLE, INT, STRING, UINT, A, B, Type, list_of, map_of
from posse.cel.values import Value, are_equal, map_key

_INT_MIN, _INT_MAX, _UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1


def checked_int(number: int) -> int:
    if not _INT_MIN <= number <= _INT_MAX:
        raise EvaluationError("integer overflow")
    return number


def checked_uint(number: int) -> UInt:
    if not 0 <= number <= _UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return UInt(number)


def _quotient(one: int, other: int) -> int:
    """Division towards zero."""
    if other == 0:
        raise EvaluationError("division by zero")
    magnitude = abs(one) // abs(other)
    return magnitude if (one < 0) == (other < 0) else -magnitude


def _remainder(one: int, other: int) -> int:
    if other == 0:
        raise EvaluationError("modulus by zero")
    return one - other * _quotient(one, other)


def _divide(one: float, other: float) -> float:
    if other != 0:
        return one / other
    return math.nan if one == 0 or math.isnan(one) else math.copysign(math.inf, one) * math.copysign(1, other)


def _arithmetic(
    run: Callable[[int, int], int], double: Callable[[float, float], float] | None
) -> list[Overload]:
    overloads = [
        function(INT, INT, to=INT, run=lambda one, other: checked_int(run(one, other))),
        function(UINT, UINT, to=UINT, run=lambda one, other: checked_uint(run(one, other))),
    ]
    if double is not None:
        overloads.append(function(DOUBLE, DOUBLE, to=DOUBLE, run=double))
    return overloads


_COMPARED: tuple[tuple[Type, Type], ...] = (
    *((one, other) for one in (INT, UINT, DOUBLE) for other in (INT, UINT, DOUBLE)),
    (STRING, STRING),
    (BYTES, BYTES),
    (BOOL, BOOL),
)


def _comparison(run: Callable[[Value, Value], bool]) -> list[Overload]:
    return [function(*types, to=BOOL, run=run) for types in _COMPARED]


def _concatenate(one: list[Value], other: list[Value]) -> list[Value]:
    return one + other


def is_in_list(item: Value, items: list[Value]) -> bool:
    return any(are_equal(item, other) for other in items)


def _is_in_map(key: Value, entries: Mapping[Value, Value]) -> bool:
    return map_key(key) in entries


OPERATORS = {
    "_+_": [
        *_arithmetic(operator.add, operator.add),
        function(STRING, STRING, to=STRING, run=operator.add),
        function(BYTES, BYTES, to=BYTES, run=operator.add),
        function(list_of(A), list_of(A), to=list_of(A), run=_concatenate, cost_per_size=1),
    ],
    "_-_": _arithmetic(operator.sub, operator.sub),
    "_*_": _arithmetic(operator.mul, operator.mul),
    "_/_": _arithmetic(_quotient, _divide),
    "_%_": _arithmetic(_remainder, None),
    "-_": [
        function(INT, to=INT, run=lambda number: checked_int(-number)),
        function(DOUBLE, to=DOUBLE, run=operator.neg),
    ],
    "!_": [function(BOOL, to=BOOL, run=operator.not_)],
    "_==_": [function(A, A, to=BOOL, run=are_equal)],
    "_!=_": [function(A, A, to=BOOL, run=lambda one, other: not are_equal(one, other))],
    "_<_": _comparison(operator.lt),
    "_<=_": _comparison(operator.le),
    "_>_": _comparison(operator.gt),
    "_>=_": _comparison(operator.ge),
    "@in": [
        function(A, list_of(A), to=BOOL, run=is_in_list, cost_per_size=1),
        function(A, map_of(A, B), to=BOOL, run=_is_in_map, cost_per_size=0),
    ],
}
