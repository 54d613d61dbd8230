"""Calls that are no functions: `has`, `all`, `exists`, `map`, `filter`, `cel.bind` and the like."""

from typing import NamedTuple, Protocol

from posse.cel.errors import CelError
from posse.cel.syntax import Comprehension, FunctionCall, LocalVariable, Name, Node, OptionalMap, Select


class _Shape(NamedTuple):
    """Of a macro with its number of arguments: how many are variables, and whether one is a condition."""

    kind: str
    variables: int
    has_condition: bool = False


_SHAPES = {
    ("all", 2): _Shape("all", 1),
    ("all", 3): _Shape("all", 2),
    ("exists", 2): _Shape("exists", 1),
    ("exists", 3): _Shape("exists", 2),
    ("exists_one", 2): _Shape("exists_one", 1),
    ("existsOne", 3): _Shape("exists_one", 2),
    ("filter", 2): _Shape("list", 1, has_condition=True),
    ("map", 2): _Shape("list", 1),
    ("map", 3): _Shape("list", 1, has_condition=True),
    ("transformList", 3): _Shape("list", 2),
    ("transformList", 4): _Shape("list", 2, has_condition=True),
    ("transformMap", 3): _Shape("map", 2),
    ("transformMap", 4): _Shape("map", 2, has_condition=True),
    ("transformMapEntry", 3): _Shape("map_entry", 2),
    ("transformMapEntry", 4): _Shape("map_entry", 2, has_condition=True),
    ("sortBy", 2): _Shape("sort_by", 1),
    ("optMap", 2): _Shape("optMap", 1),
    ("optFlatMap", 2): _Shape("optFlatMap", 1),
}
_NAMESPACES = frozenset(
    {"sets", "lists", "optional", "math", "base64", "strings", "ip", "cidr", "format", "regex"}
)


class Reporter(Protocol):
    def fail(self, reason: str, offset: int) -> CelError: ...


def expand_call(
    parser: Reporter, function: str, target: Node | None, arguments: tuple[Node, ...], offset: int
) -> Node:
    """The node of a call: that of a macro if name and number of arguments are those of one."""
    if target is None:
        if function == "has" and len(arguments) == 1:
            return _has(parser, arguments[0], offset)
        return FunctionCall(function, None, arguments, offset)
    if isinstance(target, Name):
        if target.name == "cel" and function == "bind" and len(arguments) == 3:
            return LocalVariable(_variable(parser, arguments[0]), arguments[1], arguments[2], offset)
        if target.name in _NAMESPACES:
            return FunctionCall(f"{target.name}.{function}", None, arguments, offset)
    return _comprehension(parser, function, target, arguments, offset) or FunctionCall(
        function, target, arguments, offset
    )


def _has(parser: Reporter, argument: Node, offset: int) -> Node:
    if not isinstance(argument, Select) or argument.only_test:
        raise parser.fail("invalid argument to has() macro", offset)
    return argument._replace(only_test=True)


def _comprehension(
    parser: Reporter, function: str, target: Node, arguments: tuple[Node, ...], offset: int
) -> Node | None:
    shape = _SHAPES.get((function, len(arguments)))
    if shape is None:
        return None
    names = tuple(_variable(parser, argument) for argument in arguments[: shape.variables])
    if shape.kind in ("optMap", "optFlatMap"):
        return OptionalMap(names[0], target, arguments[1], shape.kind == "optFlatMap", offset)
    condition = arguments[shape.variables] if shape.has_condition else None
    result = arguments[0] if function == "filter" else arguments[-1]
    return Comprehension(shape.kind, names, target, condition, result, offset)


def _variable(parser: Reporter, argument: Node) -> str:
    if not isinstance(argument, Name):
        raise parser.fail("argument must be a simple name", argument.offset)
    return argument.name
