"""Reads an expression of the Common Expression Language into nodes, by recursive descent."""

from collections.abc import Callable

from posse.cel import macros
from posse.cel.errors import CelError
from posse.cel.syntax import (
    Conditional,
    FunctionCall,
    Index,
    ListLiteral,
    Literal,
    Logic,
    MapLiteral,
    Name,
    Node,
    Select,
)
from posse.cel.tokens import Token, read_tokens

# As deep as Kubernetes lets an expression nest; Python's own stack bears several times that.
DEPTH_MAX = 50

_RESERVED = frozenset(
    {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let", "loop"}
    | {"namespace", "package", "return", "var", "void", "while"}
)
_RELATIONS = {"<": "_<_", "<=": "_<=_", ">": "_>_", ">=": "_>=_", "==": "_==_", "!=": "_!=_"}
_SUMS = {"+": "_+_", "-": "_-_"}
_PRODUCTS = {"*": "_*_", "/": "_/_", "%": "_%_"}
_INT64_LIMIT = 2**63


def parse(source: str) -> Node:
    parser = _Parser(source)
    node = parser.expression()
    parser.expect("end")
    return node


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self._tokens = read_tokens(source)
        self._position = 0
        self._depth = 0

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    def fail(self, reason: str, offset: int) -> CelError:
        return CelError(reason, self.source, offset)

    def _advance(self) -> Token:
        token = self._token
        self._position += 1
        return token

    def _accept(self, kind: str) -> Token | None:
        return self._advance() if self._token.kind == kind else None

    def expect(self, kind: str) -> Token:
        token = self._token
        if token.kind != kind:
            wanted = "<EOF>" if kind == "end" else f"'{kind}'"
            raise self.fail(f"Syntax error: mismatched input '{token.text}' expecting {wanted}", token.offset)
        return self._advance()

    def expression(self) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self.fail(f"expression recursion limit exceeded: {DEPTH_MAX}", self._token.offset)
        node = self._disjunction()
        if mark := self._accept("?"):
            then = self._disjunction()
            self.expect(":")
            node = Conditional(node, then, self.expression(), mark.offset)
        self._depth -= 1
        return node

    def _disjunction(self) -> Node:
        return self._chain("||", self._conjunction)

    def _conjunction(self) -> Node:
        return self._chain("&&", self._relation)

    def _chain(self, operator: str, operand: Callable[[], Node]) -> Node:
        operands, offsets = [operand()], []
        while mark := self._accept(operator):
            offsets.append(mark.offset)
            operands.append(operand())
        return _balanced(operator, operands, offsets)

    def _relation(self) -> Node:
        node = self._sum()
        while True:
            token = self._token
            if token.kind in _RELATIONS:
                function = _RELATIONS[token.kind]
            elif token.kind == "name" and token.text == "in":
                function = "@in"
            else:
                return node
            self._advance()
            node = FunctionCall(function, None, (node, self._sum()), token.offset)

    def _sum(self) -> Node:
        node = self._product()
        while self._token.kind in _SUMS:
            token = self._advance()
            node = FunctionCall(_SUMS[token.kind], None, (node, self._product()), token.offset)
        return node

    def _product(self) -> Node:
        node = self._unary()
        while self._token.kind in _PRODUCTS:
            token = self._advance()
            node = FunctionCall(_PRODUCTS[token.kind], None, (node, self._unary()), token.offset)
        return node

    def _unary(self) -> Node:
        signs: list[Token] = []
        while self._token.kind in ("!", "-") and (not signs or signs[-1].kind == self._token.kind):
            signs.append(self._advance())
        number = self._token.value
        if (
            signs
            and signs[-1].kind == "-"
            and type(number) in (int, float)
            and isinstance(number, int | float)
        ):
            self._advance()
            node = self._member(Literal(-number, signs.pop().offset))
        else:
            node = self._member(self._primary())
        if len(signs) % 2:
            node = FunctionCall("!_" if signs[0].kind == "!" else "-_", None, (node,), signs[0].offset)
        return node

    def _member(self, node: Node) -> Node:
        while True:
            token = self._token
            if token.kind in (".", ".?"):
                self._advance()
                name = self.expect("name")
                if token.kind == "." and (opening := self._accept("(")):
                    node = macros.expand_call(self, name.text, node, self._arguments(")"), opening.offset)
                else:
                    node = Select(node, name.text, token.offset, optional=token.kind == ".?")
            elif token.kind in ("[", "[?"):
                self._advance()
                key = self.expression()
                self.expect("]")
                node = Index(node, key, token.offset, optional=token.kind == "[?")
            else:
                return node

    def _primary(self) -> Node:
        token = self._advance()
        match token.kind:
            case "literal":
                if type(token.value) is int and token.value == _INT64_LIMIT:
                    raise self.fail("invalid int literal", token.offset)
                return Literal(token.value, token.offset)
            case "(":
                node = self.expression()
                self.expect(")")
                return node
            case "[":
                return self._list(token.offset)
            case "{":
                return self._map(token.offset)
            case "name" | ".":
                name = self.expect("name") if token.kind == "." else token
                if name.text in _RESERVED:
                    raise self.fail(f"reserved identifier: {name.text}", name.offset)
                if opening := self._accept("("):
                    return macros.expand_call(self, name.text, None, self._arguments(")"), opening.offset)
                return Name(name.text, name.offset)
        raise self.fail(f"Syntax error: mismatched input '{token.text}'", token.offset)

    def _arguments(self, closing: str) -> tuple[Node, ...]:
        arguments = []
        while not self._accept(closing):
            arguments.append(self.expression())
            if self._token.kind != closing:
                self.expect(",")
                if self._token.kind == closing:
                    raise self.fail(f"Syntax error: mismatched input '{closing}'", self._token.offset)
        return tuple(arguments)

    def _list(self, offset: int) -> Node:
        items: list[Node] = []
        optional = set()
        while not self._accept("]"):
            if self._accept("?"):
                optional.add(len(items))
            items.append(self.expression())
            if self._token.kind != "]":
                self.expect(",")
        return ListLiteral(tuple(items), frozenset(optional), offset)

    def _map(self, offset: int) -> Node:
        entries: list[tuple[Node, Node]] = []
        optional = set()
        while not self._accept("}"):
            if self._accept("?"):
                optional.add(len(entries))
            key = self.expression()
            self.expect(":")
            entries.append((key, self.expression()))
            if self._token.kind != "}":
                self.expect(",")
        return MapLiteral(tuple(entries), frozenset(optional), offset)


def _balanced(operator: str, operands: list[Node], offsets: list[int]) -> Node:
    """A long chain as a tree that is not deep: which operands are joined first does not matter."""
    if len(operands) == 1:
        return operands[0]
    half = len(operands) // 2
    left = _balanced(operator, operands[:half], offsets[: half - 1])
    right = _balanced(operator, operands[half:], offsets[half:])
    return Logic(operator, left, right, offsets[half - 1])
