"""Macros that go through a list or map: `all`, `exists`, `exists_one`, `map`, `filter`, transformations."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from posse.cel.errors import EvaluationError
from posse.cel.pieces import Frame, Piece, as_truth, charge
from posse.cel.syntax import Comprehension
from posse.cel.types import BOOL, DYN, INT, Type, list_of, map_of
from posse.cel.values import Value, map_key, plain_key

if TYPE_CHECKING:
    from posse.cel.compiler import Compiler

_TESTS = frozenset({"all", "exists", "exists_one"})


class _Loop(NamedTuple):
    """One macro, ready to run: what it goes through, what it keeps, and what it makes of an entry."""

    domain: Callable[[Frame], Value]
    slots: tuple[int, ...]
    condition: Callable[[Frame], Value] | None
    result: Callable[[Frame], Value]
    steps: float

    def rounds(self, frame: Frame) -> Iterator[Value]:
        """Sets the variables for each entry in turn; gives its key."""
        entries = self.domain(frame)
        if isinstance(entries, Mapping):
            pairs: Iterator[tuple[Value, Value]] = ((plain_key(key), value) for key, value in entries.items())
            one_variable = 0
        elif isinstance(entries, list):
            pairs = iter(enumerate(entries))
            one_variable = 1
        else:
            raise EvaluationError("no such overload")
        for pair in pairs:
            charge(frame, self.steps)
            if len(self.slots) == 1:
                frame[self.slots[0]] = pair[one_variable]
            else:
                frame[self.slots[0]], frame[self.slots[1]] = pair
            if self.condition is None or as_truth(self.condition(frame)):
                yield pair[0]


def compile_comprehension(compiler: "Compiler", node: Comprehension) -> Piece:
    domain = compiler.compile(node.domain)
    types = _variable_types(compiler, domain.type, node)
    with compiler.variables(node.variables, types, domain.size) as slots:
        condition = compiler.compile(node.condition) if node.condition is not None else None
        result = compiler.compile(node.result)
    if node.kind in _TESTS:
        compiler.expect(result, BOOL, node.result.offset)
    if condition is not None and node.condition is not None:
        compiler.expect(condition, BOOL, node.condition.offset)
    steps = 1 + result.cost + (condition.cost if condition else 0)
    loop = _Loop(domain.run, slots, condition.run if condition else None, result.run, min(steps, 100))
    run = _KINDS[node.kind]

    return Piece(
        _result_type(node.kind, domain.type, result.type),
        lambda frame: run(loop, frame),
        domain.cost + domain.size * steps,
        max(domain.size, result.size),
    )


def _variable_types(compiler: "Compiler", domain: Type, node: Comprehension) -> tuple[Type, ...]:
    if domain.name == "list":
        pair = (INT, domain.parameters[0])
        return pair if len(node.variables) == 2 else pair[1:]
    if domain.name == "map":
        return domain.parameters[: len(node.variables)]
    if domain == DYN:
        return (DYN,) * len(node.variables)
    raise compiler.fail(
        f"expression of type '{domain}' cannot be range of a comprehension (must be list, map, or dynamic)",
        node.domain.offset,
    )


def _result_type(kind: str, domain: Type, result: Type) -> Type:
    if kind in _TESTS:
        return BOOL
    if kind == "list":
        return list_of(result)
    if kind == "sort_by":
        return domain
    if kind == "map_entry":
        return result
    return map_of(
        INT if domain.name == "list" else domain.parameters[0] if domain.parameters else DYN, result
    )


def _holds_for(loop: _Loop, frame: Frame, decisive: bool) -> bool:
    """One entry that decides is enough; an error counts only if no entry decides."""
    error: EvaluationError | None = None
    for _ in loop.rounds(frame):
        try:
            if as_truth(loop.result(frame)) is decisive:
                return decisive
        except EvaluationError as failed:
            error = failed
    if error is not None:
        raise error
    return not decisive


def _exists_one(loop: _Loop, frame: Frame) -> bool:
    return sum(as_truth(loop.result(frame)) for _ in loop.rounds(frame)) == 1


def _transform_map(loop: _Loop, frame: Frame) -> dict[Value, Value]:
    return {map_key(key): loop.result(frame) for key in loop.rounds(frame)}


def _transform_entries(loop: _Loop, frame: Frame) -> dict[Value, Value]:
    result: dict[Value, Value] = {}
    for _ in loop.rounds(frame):
        for key, value in loop.result(frame).items():
            if key in result:
                raise EvaluationError(f"insert failed: key {plain_key(key)} already exists")
            result[key] = value
    return result


def _sort_by(loop: _Loop, frame: Frame) -> list[Value]:
    keyed = [(loop.result(frame), frame[loop.slots[0]]) for _ in loop.rounds(frame)]
    try:
        return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]
    except TypeError as error:
        raise EvaluationError("no such overload") from error


_KINDS: dict[str, Callable[[_Loop, Frame], Value]] = {
    "all": lambda loop, frame: _holds_for(loop, frame, False),
    "exists": lambda loop, frame: _holds_for(loop, frame, True),
    "exists_one": _exists_one,
    "list": lambda loop, frame: [loop.result(frame) for _ in loop.rounds(frame)],
    "map": _transform_map,
    "map_entry": _transform_entries,
    "sort_by": _sort_by,
}
