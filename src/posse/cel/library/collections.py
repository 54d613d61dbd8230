"""Functions on lists, maps and sets."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from posse.cel.errors import CostError, EvaluationError
from posse.cel.functions import function, method
from posse.cel.library.operators import checked_int, is_in_list
from posse.cel.syntax import UInt
from posse.cel.types import BOOL, DYN, INT, A, B, list_of, map_of, optional_of
from posse.cel.values import NOTHING, Optional, Value, are_equal

_LIST = list_of(A)
_RANGE_MAX = 100_000


def _comparable(items: list[Value]) -> list[Value]:
    """The list, if its items have an order among themselves."""
    kinds = {float if type(item) in (int, UInt, float, Fraction) else type(item) for item in items}
    if len(kinds) > 1 or not kinds <= {float, str, bytes, bool}:
        if len(kinds) == 1 and hasattr(items[0], "__lt__") and not isinstance(items[0], list | dict):
            return items
        raise EvaluationError("no such overload")
    return items


def _distinct(items: list[Value]) -> list[Value]:
    result: list[Value] = []
    for item in items:
        if not is_in_list(item, result):
            result.append(item)
    return result


def _flatten(items: list[Value], depth: int = 1) -> list[Value]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    result: list[Value] = []
    for item in items:
        if isinstance(item, list) and depth > 0:
            result += _flatten(item, depth - 1)
        else:
            result.append(item)
    return result


def _slice(items: list[Value], start: int, end: int) -> list[Value]:
    if not 0 <= start <= end <= len(items):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _range(count: int) -> list[Value]:
    if count > _RANGE_MAX:
        raise CostError
    return list(range(count))


def _index_of(items: list[Value], item: Value) -> int:
    return next((index for index, other in enumerate(items) if are_equal(item, other)), -1)


def _last_index_of(items: list[Value], item: Value) -> int:
    return next((index for index in reversed(range(len(items))) if are_equal(item, items[index])), -1)


def _is_sorted(items: list[Value]) -> bool:
    ordered = _comparable(items)
    return all(one <= other for one, other in pairwise(ordered))


def _extreme(choose: Callable[..., Value], name: str) -> Callable[[list[Value]], Value]:
    def run(items: list[Value]) -> Value:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        return choose(_comparable(items))

    return run


def _sum(items: list[Value]) -> Value:
    if any(type(item) not in (int, UInt, float) for item in items):
        raise EvaluationError("no such overload")
    total = sum(items)
    return total if isinstance(total, float) else checked_int(total)


def _contains_all(items: list[Value], others: list[Value]) -> bool:
    return all(is_in_list(other, items) for other in others)


COLLECTIONS = {
    "size": [
        function(list_of(A), to=INT, run=len, cost_per_size=0),
        method(list_of(A), to=INT, run=len, cost_per_size=0),
        function(map_of(A, B), to=INT, run=len, cost_per_size=0),
        method(map_of(A, B), to=INT, run=len, cost_per_size=0),
    ],
    "distinct": [method(_LIST, to=_LIST, run=_distinct, cost_per_size=1)],
    "flatten": [
        method(_LIST, to=list_of(DYN), run=_flatten, cost_per_size=1),
        method(_LIST, INT, to=list_of(DYN), run=_flatten, cost_per_size=1),
    ],
    "slice": [method(_LIST, INT, INT, to=_LIST, run=_slice, cost_per_size=1)],
    "reverse": [method(_LIST, to=_LIST, run=lambda items: items[::-1], cost_per_size=1)],
    "sort": [method(_LIST, to=_LIST, run=lambda items: sorted(_comparable(items)), cost_per_size=1)],
    "first": [
        method(_LIST, to=optional_of(A), run=lambda items: Optional(True, items[0]) if items else NOTHING)
    ],
    "last": [
        method(_LIST, to=optional_of(A), run=lambda items: Optional(True, items[-1]) if items else NOTHING)
    ],
    "lists.range": [function(INT, to=list_of(INT), run=_range)],
    "indexOf": [method(_LIST, A, to=INT, run=_index_of, cost_per_size=1)],
    "lastIndexOf": [method(_LIST, A, to=INT, run=_last_index_of, cost_per_size=1)],
    "isSorted": [method(_LIST, to=BOOL, run=_is_sorted, cost_per_size=1)],
    "min": [method(_LIST, to=A, run=_extreme(min, "min"), cost_per_size=1)],
    "max": [method(_LIST, to=A, run=_extreme(max, "max"), cost_per_size=1)],
    "sum": [method(_LIST, to=A, run=_sum, cost_per_size=1)],
    "sets.contains": [function(_LIST, _LIST, to=BOOL, run=_contains_all, cost_per_size=1)],
    "sets.equivalent": [
        function(
            _LIST,
            _LIST,
            to=BOOL,
            run=lambda items, others: _contains_all(items, others) and _contains_all(others, items),
            cost_per_size=1,
        )
    ],
    "sets.intersects": [
        function(
            _LIST,
            _LIST,
            to=BOOL,
            run=lambda items, others: any(is_in_list(item, others) for item in items),
            cost_per_size=1,
        )
    ],
}
