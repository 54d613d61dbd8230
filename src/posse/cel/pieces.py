"""A piece of an expression that is ready to run, and the frame in which pieces run."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from posse.cel.errors import CostError, EvaluationError
from posse.cel.types import Type
from posse.cel.values import Value, map_key

# Slot 0 holds the steps that are left; each variable has a slot of its own.
Frame: TypeAlias = list[Value]
STEPS_LEFT = 0

_TEXT_STEP = 10


class Piece(NamedTuple):
    """`cost` and `size` are upper estimates: steps of one evaluation, and the length of what it gives."""

    type: Type
    run: Callable[[Frame], Value]
    cost: float = 1
    size: int = 1


def charge(frame: Frame, steps: float) -> None:
    frame[STEPS_LEFT] -= steps
    if frame[STEPS_LEFT] < 0:
        raise CostError


def steps_of(value: Value) -> float:
    """What it costs to go through a value once."""
    if isinstance(value, str):
        return len(value) / _TEXT_STEP
    return len(value) if isinstance(value, list) else 0


def look_up(container: Value, key: Value) -> Value:
    """`container[key]` of a map or list."""
    if isinstance(container, Mapping):
        try:
            return container[map_key(key)]
        except KeyError:
            raise EvaluationError(f"no such key: {key}") from None
    if isinstance(container, list):
        if isinstance(key, bool) or not isinstance(key, int | float) or key != int(key):
            raise EvaluationError("no such overload")
        if not 0 <= key < len(container):
            raise EvaluationError(f"index out of bounds: {key}")
        return container[int(key)]
    raise EvaluationError("no such overload")


def holds(container: Value, key: Value) -> bool:
    """Whether `look_up` finds something."""
    try:
        look_up(container, key)
    except EvaluationError:
        if isinstance(container, Mapping | list):
            return False
        raise
    return True


def as_truth(value: Value) -> bool:
    if value is True or value is False:
        return bool(value)
    raise EvaluationError("no such overload")
