"""The words of an expression: numbers, strings, names and operators."""

import re
from typing import NamedTuple

from posse.cel.errors import CelError
from posse.cel.syntax import LiteralValue, UInt

_SPACE = re.compile(r"(?:[ \t\n\f\r]+|//[^\n]*)*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
                     r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?)|[0-9]+[uU]?")  # fmt: skip
_STRING = re.compile(r"(?P<prefix>[rRbB]{0,2})(?P<quote>\"\"\"|'''|\"|')")
_NAME = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*|`[a-zA-Z0-9_.\-/ ]+`")
_OPERATOR = re.compile(r"&&|\|\||==|!=|<=|>=|\.\?|\[\?|[-+*/%!<>=?:.,()\[\]{}]")

_ESCAPE = re.compile(
    r"\\(?:(?P<simple>[abfnrtv\\?\"'`])|[xX](?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})"
    r"|U(?P<U>[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})|(?P<bad>.?))",
    re.DOTALL,
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

_INT64_LIMIT = 2**63
_UINT64_LIMIT = 2**64


class Token(NamedTuple):
    """`kind` is `literal`, `name`, `end`, or the operator itself."""

    kind: str
    text: str
    offset: int
    value: LiteralValue = None


def read_tokens(source: str) -> list[Token]:
    tokens = []
    position = _skip_space(source, 0)
    while position < len(source):
        token, position = _next_token(source, position)
        tokens.append(token)
        position = _skip_space(source, position)
    return [*tokens, Token("end", "<EOF>", len(source))]


def _skip_space(source: str, position: int) -> int:
    found = _SPACE.match(source, position)
    return found.end() if found else position


def _next_token(source: str, position: int) -> tuple[Token, int]:
    if found := _STRING.match(source, position):
        return _read_string(source, position, found.group("prefix").lower(), found.group("quote"))
    if found := _NAME.match(source, position):
        text = found.group()
        if text in ("true", "false"):
            return Token("literal", text, position, text == "true"), found.end()
        if text == "null":
            return Token("literal", text, position, None), found.end()
        return Token("name", text.strip("`"), position), found.end()
    if found := _NUMBER.match(source, position):
        return _number(source, position, found.group()), found.end()
    if found := _OPERATOR.match(source, position):
        return Token(found.group(), found.group(), position), found.end()
    raise CelError(f"Syntax error: token recognition error at: '{source[position]}'", source, position)


def _number(source: str, position: int, text: str) -> Token:
    if "x" not in text.lower() and any(sign in text for sign in ".eE"):
        return Token("literal", text, position, float(text))
    digits = text.rstrip("uU")
    number = int(digits, 16) if digits[:2].lower() == "0x" else _decimal(source, position, digits)
    if digits != text:
        if number >= _UINT64_LIMIT:
            raise CelError("invalid uint literal", source, position)
        return Token("literal", text, position, UInt(number))
    # -2**63 is written as the negation of a number that is no int itself: the parser joins them.
    if number > _INT64_LIMIT:
        raise CelError("invalid int literal", source, position)
    return Token("literal", text, position, number)


def _decimal(source: str, position: int, digits: str) -> int:
    if len(digits) > 40:
        raise CelError("invalid int literal", source, position)
    return int(digits)


def _read_string(source: str, position: int, prefix: str, quote: str) -> tuple[Token, int]:
    start = position + len(prefix) + len(quote)
    end = start
    while not source.startswith(quote, end):
        if end >= len(source) or (len(quote) == 1 and source[end] in "\r\n"):
            raise CelError(
                f"Syntax error: token recognition error at: '{source[position:end]}'", source, position
            )
        end += 2 if source[end] == "\\" and "r" not in prefix else 1
    body = source[start:end]
    value: LiteralValue = body
    if "b" in prefix:
        value = body.encode() if "r" in prefix else _bytes(source, position, body)
    elif "r" not in prefix:
        value = _ESCAPE.sub(lambda found: _unescape(source, position, found), body)
    return Token("literal", source[position : end + len(quote)], position, value), end + len(quote)


def _unescape(source: str, position: int, found: re.Match[str]) -> str:
    if (simple := found.group("simple")) is not None:
        return _SIMPLE.get(simple, simple)
    for group, base in (("x", 16), ("u", 16), ("U", 16), ("octal", 8)):
        if (digits := found.group(group)) is not None:
            number = int(digits, base)
            if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                break
            return chr(number)
    raise CelError(f"Syntax error: token recognition error at: '{found.group()}'", source, position)


def _bytes(source: str, position: int, body: str) -> bytes:
    """In bytes, hexadecimal and octal escapes stand for one byte each."""
    result = bytearray()
    last = 0
    for found in _ESCAPE.finditer(body):
        result += body[last : found.start()].encode()
        if found.group("x") or found.group("octal"):
            result.append(int(found.group("x") or found.group("octal"), 16 if found.group("x") else 8))
        else:
            result += _unescape(source, position, found).encode()
        last = found.end()
    return bytes(result + body[last:].encode())
