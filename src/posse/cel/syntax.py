"""The nodes of a parsed expression. `offset` is where a node stands in the text, for messages."""

from typing import NamedTuple, TypeAlias


class UInt(int):
    """An unsigned integer of CEL (`5u`)."""


LiteralValue: TypeAlias = bool | int | UInt | float | str | bytes | None


class Literal(NamedTuple):
    value: LiteralValue
    offset: int


class Name(NamedTuple):
    name: str
    offset: int


class Select(NamedTuple):
    """`operand.field`, `operand.?field` (optional), or `has(operand.field)` (only_test)."""

    operand: "Node"
    field: str
    offset: int
    optional: bool = False
    only_test: bool = False


class Index(NamedTuple):
    """`operand[key]` or `operand[?key]` (optional)."""

    operand: "Node"
    key: "Node"
    offset: int
    optional: bool = False


class FunctionCall(NamedTuple):
    """`function(arguments)` or `target.function(arguments)`. Operators are calls of functions like `_+_`."""

    function: str
    target: "Node | None"
    arguments: "tuple[Node, ...]"
    offset: int


class Logic(NamedTuple):
    """`left && right` or `left || right`: an error on one side does not matter if the other one decides."""

    operator: str
    left: "Node"
    right: "Node"
    offset: int


class Conditional(NamedTuple):
    condition: "Node"
    then: "Node"
    otherwise: "Node"
    offset: int


class ListLiteral(NamedTuple):
    items: "tuple[Node, ...]"
    optional: frozenset[int]
    offset: int


class MapLiteral(NamedTuple):
    entries: "tuple[tuple[Node, Node], ...]"
    optional: frozenset[int]
    offset: int


class Comprehension(NamedTuple):
    """A macro over a list or map. `kind` is the macro, such as `all`; `variables` are one or two names."""

    kind: str
    variables: tuple[str, ...]
    domain: "Node"
    condition: "Node | None"
    result: "Node"
    offset: int


class LocalVariable(NamedTuple):
    """`cel.bind(variable, value, body)`."""

    variable: str
    value: "Node"
    body: "Node"
    offset: int


class OptionalMap(NamedTuple):
    """`target.optMap(variable, body)`; with `flat` the body is an optional itself (`optFlatMap`)."""

    variable: str
    target: "Node"
    body: "Node"
    flat: bool
    offset: int


Node: TypeAlias = (
    Literal
    | Name
    | Select
    | Index
    | FunctionCall
    | Logic
    | Conditional
    | ListLiteral
    | MapLiteral
    | Comprehension
    | LocalVariable
    | OptionalMap
)
