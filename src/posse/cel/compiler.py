"""Checks the types of an expression and makes a function of it: one Python closure per node."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from posse.cel import comprehensions
from posse.cel.calls import compile_call
from posse.cel.errors import CelError, EvaluationError
from posse.cel.pieces import Frame, Piece, as_truth, holds, look_up
from posse.cel.syntax import (
    Comprehension,
    Conditional,
    FunctionCall,
    Index,
    ListLiteral,
    Literal,
    LocalVariable,
    Logic,
    MapLiteral,
    Name,
    Node,
    OptionalMap,
    Select,
)
from posse.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DYN,
    INT,
    STRING,
    TYPE,
    UINT,
    Type,
    fits,
    join,
    list_of,
    map_of,
    optional_of,
)
from posse.cel.values import NOTHING, Optional, Value, map_key, type_of

_TYPE_NAMES = {kind.name: kind for kind in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TYPE)}
_TYPE_NAMES |= {"list": list_of(DYN), "map": map_of(DYN, DYN)}

# Nodes within nodes. Each takes two or three calls of Python's stack.
_DEPTH_MAX = 120


class ObjectField(NamedTuple):
    """A field of an object type: its type, and the most entries or characters it may have."""

    type: Type
    size: int


class Compiler:
    def __init__(
        self, source: str, variables: Mapping[str, Type], objects: Mapping[Type, Mapping[str, ObjectField]]
    ) -> None:
        self.source = source
        self._objects = objects
        self._scope = {name: (slot, kind, 1) for slot, (name, kind) in enumerate(variables.items(), start=1)}
        self.slots = 1 + len(variables)
        self._depth = 0

    def fail(self, reason: str, offset: int) -> CelError:
        return CelError(reason, self.source, offset)

    def compile(self, node: Node) -> Piece:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self.fail(f"expression recursion limit exceeded: {_DEPTH_MAX}", node.offset)
        piece: Piece = getattr(self, "_" + type(node).__name__.lower())(node)
        self._depth -= 1
        return piece

    @contextmanager
    def variables(
        self, names: tuple[str, ...], types: tuple[Type, ...], size: int
    ) -> Iterator[tuple[int, ...]]:
        """Within it, further variables are known. Gives their slots."""
        outside = self._scope
        slots = tuple(range(self.slots, self.slots + len(names)))
        self.slots += len(names)
        self._scope = outside | {
            name: (slot, kind, size) for name, slot, kind in zip(names, slots, types, strict=True)
        }
        yield slots
        self._scope = outside

    def expect(self, piece: Piece, kind: Type, offset: int) -> Piece:
        if not fits(kind, piece.type, {}):
            raise self.fail(f"expected type '{kind}' but found '{piece.type}'", offset)
        return piece

    def _literal(self, node: Literal) -> Piece:
        value = node.value
        return Piece(type_of(value), lambda _: value, 0, len(value) if isinstance(value, str | bytes) else 1)

    def _name(self, node: Name) -> Piece:
        if node.name in self._scope:
            slot, kind, size = self._scope[node.name]
            return Piece(kind, lambda frame: frame[slot], 1, size)
        if node.name in _TYPE_NAMES:
            named = _TYPE_NAMES[node.name]
            return Piece(TYPE, lambda _: named, 0)
        raise self.fail(f"undeclared reference to '{node.name}' (in container '')", node.offset)

    def _select(self, node: Select) -> Piece:
        operand = self.compile(node.operand)
        result, size = self._selected(operand, node)
        if operand.type.name == "optional_type":
            found = _through_optional(operand.run, lambda container: _found(container, node.field))
        else:
            found = _optional_select(operand.run, node.field)
        if node.only_test:
            return Piece(BOOL, lambda frame: found(frame).is_set, operand.cost + 1)
        if node.optional or operand.type.name == "optional_type":
            inner = result.parameters[0] if result.name == "optional_type" else result
            return Piece(optional_of(inner), found, operand.cost + 1, size)
        run, field = operand.run, node.field
        return Piece(result, lambda frame: look_up(run(frame), field), operand.cost + 1, size)

    def _selected(self, operand: Piece, node: Select) -> tuple[Type, int]:
        kind = operand.type.parameters[0] if operand.type.name == "optional_type" else operand.type
        if kind in self._objects:
            field = self._objects[kind].get(node.field)
            if field is None:
                raise self.fail(f"undefined field '{node.field}'", node.offset)
            return field
        if kind.name == "map" and fits(kind.parameters[0], STRING, {}):
            return kind.parameters[1], operand.size
        if kind == DYN:
            return DYN, operand.size
        raise self.fail(f"type '{operand.type}' does not support field selection", node.offset)

    def _index(self, node: Index) -> Piece:
        operand, key = self.compile(node.operand), self.compile(node.key)
        is_optional = operand.type.name == "optional_type"
        kind = operand.type.parameters[0] if is_optional else operand.type
        bound: dict[Type, Type] = {}
        if kind == DYN:
            result = DYN
        elif kind.name == "list" and key.type in (INT, DYN):
            result = kind.parameters[0]
        elif kind.name == "map" and fits(kind.parameters[0], key.type, bound):
            result = kind.parameters[1]
        else:
            types = f"({operand.type}, {key.type})"
            raise self.fail(f"found no matching overload for '_[_]' applied to '{types}'", node.offset)
        container, key_of, cost = operand.run, key.run, operand.cost + key.cost + 1
        if is_optional:

            def through(frame: Frame) -> Value:
                return _through_optional(container, lambda inner: _found(inner, key_of(frame)))(frame)

            return Piece(optional_of(result), through, cost, operand.size)
        if node.optional:
            return Piece(
                optional_of(result),
                lambda frame: _found(container(frame), key_of(frame)),
                cost,
                operand.size,
            )
        return Piece(result, lambda frame: look_up(container(frame), key_of(frame)), cost, operand.size)

    def _functioncall(self, node: FunctionCall) -> Piece:
        return compile_call(self, node)

    def _logic(self, node: Logic) -> Piece:
        left = self.expect(self.compile(node.left), BOOL, node.left.offset)
        right = self.expect(self.compile(node.right), BOOL, node.right.offset)
        return Piece(BOOL, _either(left.run, right.run, node.operator == "||"), left.cost + right.cost + 1)

    def _conditional(self, node: Conditional) -> Piece:
        condition = self.expect(self.compile(node.condition), BOOL, node.condition.offset)
        then, otherwise = self.compile(node.then), self.compile(node.otherwise)
        if join(then.type, otherwise.type) is None:
            types = f"(bool, {then.type}, {otherwise.type})"
            raise self.fail(f"found no matching overload for '_?_:_' applied to '{types}'", node.offset)
        decide, one, other = condition.run, then.run, otherwise.run
        return Piece(
            _common([then.type, otherwise.type]),
            lambda frame: one(frame) if as_truth(decide(frame)) else other(frame),
            condition.cost + max(then.cost, otherwise.cost),
            max(then.size, otherwise.size),
        )

    def _listliteral(self, node: ListLiteral) -> Piece:
        items = [self.compile(item) for item in node.items]
        parts = tuple((item.run, position in node.optional) for position, item in enumerate(items))

        def run(frame: Frame) -> Value:
            values = []
            for item, is_optional in parts:
                value = item(frame)
                if not is_optional:
                    values.append(value)
                elif value.is_set:
                    values.append(value.value)
            return values

        types = [
            self._entry_type(item.type, position in node.optional) for position, item in enumerate(items)
        ]
        return Piece(list_of(_common(types)), run, 10 + sum(item.cost for item in items), len(items))

    def _mapliteral(self, node: MapLiteral) -> Piece:
        entries = [(self.compile(key), self.compile(value)) for key, value in node.entries]
        parts = tuple(
            (key.run, value.run, position in node.optional) for position, (key, value) in enumerate(entries)
        )

        def run(frame: Frame) -> Value:
            result: dict[Value, Value] = {}
            for key_of, value_of, is_optional in parts:
                key, value = map_key(key_of(frame)), value_of(frame)
                if key in result:
                    raise EvaluationError("failed with repeated key")
                if not is_optional:
                    result[key] = value
                elif value.is_set:
                    result[key] = value.value
            return result

        values = [self._entry_type(value.type, at in node.optional) for at, (_, value) in enumerate(entries)]
        kind = map_of(_common([key.type for key, _ in entries]), _common(values))
        return Piece(kind, run, 30 + sum(key.cost + value.cost for key, value in entries), len(entries))

    @staticmethod
    def _entry_type(kind: Type, is_optional: bool) -> Type:
        return kind.parameters[0] if is_optional and kind.parameters else kind

    def _comprehension(self, node: Comprehension) -> Piece:
        return comprehensions.compile_comprehension(self, node)

    def _localvariable(self, node: LocalVariable) -> Piece:
        value = self.compile(node.value)
        with self.variables((node.variable,), (value.type,), value.size) as (slot,):
            body = self.compile(node.body)
        value_of, result_of = value.run, body.run

        def run(frame: Frame) -> Value:
            frame[slot] = value_of(frame)
            return result_of(frame)

        return Piece(body.type, run, value.cost + body.cost + 1, body.size)

    def _optionalmap(self, node: OptionalMap) -> Piece:
        target = self.expect(self.compile(node.target), optional_of(DYN), node.offset)
        inner = target.type.parameters[0] if target.type.parameters else DYN
        with self.variables((node.variable,), (inner,), target.size) as (slot,):
            body = self.compile(node.body)
        target_of, result_of, flat = target.run, body.run, node.flat

        def run(frame: Frame) -> Value:
            optional = target_of(frame)
            if not optional.is_set:
                return NOTHING
            frame[slot] = optional.value
            result = result_of(frame)
            return result if flat else Optional(True, result)

        return Piece(body.type if flat else optional_of(body.type), run, target.cost + body.cost, body.size)


def _common(types: list[Type]) -> Type:
    """What all are; dyn where they differ, or where there are none."""
    return types[0] if len(set(types)) == 1 else DYN


def _found(container: Value, key: Value) -> Optional:
    return Optional(True, look_up(container, key)) if holds(container, key) else NOTHING


def _optional_select(operand: Callable[[Frame], Value], field: str) -> Callable[[Frame], Optional]:
    def run(frame: Frame) -> Optional:
        container = operand(frame)
        if isinstance(container, Optional):
            return _found(container.value, field) if container.is_set else NOTHING
        return _found(container, field)

    return run


def _through_optional(
    operand: Callable[[Frame], Value], look: Callable[[Value], Optional]
) -> Callable[[Frame], Optional]:
    def run(frame: Frame) -> Optional:
        optional = operand(frame)
        return look(optional.value) if optional.is_set else NOTHING

    return run


def _either(
    left: Callable[[Frame], Value], right: Callable[[Frame], Value], decisive: bool
) -> Callable[..., bool]:
    """`||` if true is decisive, `&&` if false is. The side that decides wins over an error of the other."""

    def run(frame: Frame) -> bool:
        try:
            one = as_truth(left(frame))
        except EvaluationError:
            if as_truth(right(frame)) is decisive:
                return decisive
            raise
        return one if one is decisive else as_truth(right(frame))

    return run
