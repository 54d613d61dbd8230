"""Label and field selectors: from the text of a query or from a LabelSelector to something that matches or
not.

All label requirements come down to one function, `matches_requirement`, which node affinity shares. An absent
label satisfies NotIn and DoesNotExist, as in Kubernetes.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from posse.model.meta import LabelSelector

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_TOKEN = re.compile(r"\s*(?:(?P<sign>==|!=|[=!<>(),])|(?P<word>[^=!<>(),\s]+))")
_SIGN_CHARACTERS = "=!<>(),"
_SIGNS = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
_SETS = {"in": "In", "notin": "NotIn"}
_FIELD_TERM = re.compile(r"(?P<path>[^=!]+)(?P<sign>==|!=|=)(?P<value>(?:\\.|[^\\=])*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_FIELD_SPLIT = re.compile(r"((?:\\.|[^\\,])*\\?),?", re.DOTALL)


class SelectorError(ValueError):
    """The selector cannot be understood; the message names the part that is wrong."""


def matches_requirement(operator: str, values: Iterable[str], labels: Mapping[str, str], key: str) -> bool:
    """Whether the labels satisfy one requirement of a label selector or of node affinity."""
    actual = labels.get(key)
    match operator:
        case "In":
            return actual is not None and actual in values
        case "NotIn":
            return actual is None or actual not in values
        case "Exists":
            return actual is not None
        case "DoesNotExist":
            return actual is None
        case "Gt" | "Lt":
            return actual is not None and _compares(operator, actual, tuple(values))
    raise SelectorError(f"unknown operator {operator!r}")


def _compares(operator: str, actual: str, values: tuple[str, ...]) -> bool:
    """What is no integer is neither greater nor less than anything."""
    if len(values) != 1 or not (_is_int64(actual) and _is_int64(values[0])):
        return False
    difference = int(actual) - int(values[0])
    return difference > 0 if operator == "Gt" else difference < 0


def _is_int64(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelQuery:
    """All requirements must hold; without any, everything matches unless `nothing` is set."""

    requirements: tuple[LabelRequirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        return not self.nothing and all(
            matches_requirement(wanted.operator, wanted.values, labels, wanted.key)
            for wanted in self.requirements
        )


def label_query(selector: LabelSelector | None) -> LabelQuery:
    """An absent selector matches nothing, an empty one everything."""
    if selector is None:
        return LabelQuery(nothing=True)
    exact = [_checked(key, "In", (value,)) for key, value in sorted(selector.match_labels.items())]
    for wanted in selector.match_expressions:
        if wanted.operator not in {"In", "NotIn", "Exists", "DoesNotExist"}:
            raise SelectorError(
                f"{wanted.operator!r} is not an operator: use In, NotIn, Exists or DoesNotExist"
            )
    return LabelQuery(
        (
            *exact,
            *(_checked(wanted.key, wanted.operator, wanted.values) for wanted in selector.match_expressions),
        )
    )


def parse_label_selector(text: str) -> LabelQuery:
    """As in ?labelSelector=: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`."""
    reader = _TokenReader(text)
    requirements: list[LabelRequirement] = []
    while not reader.at_end():
        if requirements:
            reader.expect(",")
        requirements.append(_read_requirement(reader))
    return LabelQuery(tuple(requirements))


class _TokenReader:
    """Words and signs of a label selector, one after another; the empty string stands for the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [found["sign"] or found["word"] for found in _TOKEN.finditer(text.rstrip())]
        self._next = 0

    def at_end(self) -> bool:
        return self._next >= len(self._tokens)

    def peek(self) -> str:
        return "" if self.at_end() else self._tokens[self._next]

    def take(self) -> str:
        token = self.peek()
        self._next += 1
        return token

    def expect(self, sign: str) -> None:
        if (found := self.take()) != sign:
            raise self.complaint(f"expected {sign!r}, found {_shown(found)}")

    def take_word(self, *, may_be_empty: bool = False) -> str:
        if self.peek() and self.peek()[0] not in _SIGN_CHARACTERS:
            return self.take()
        if may_be_empty:
            return ""
        raise self.complaint(f"expected a label key, found {_shown(self.peek())}")

    def complaint(self, reason: str) -> SelectorError:
        return SelectorError(f"label selector {self._text!r}: {reason}")


def _shown(token: str) -> str:
    return repr(token) if token else "its end"


def _read_requirement(reader: _TokenReader) -> LabelRequirement:
    if reader.peek() == "!":
        reader.take()
        return _checked(reader.take_word(), "DoesNotExist")
    key = reader.take_word()
    sign = reader.peek()
    if sign in {"", ","}:
        return _checked(key, "Exists")
    if sign in _SIGNS:
        reader.take()
        return _checked(key, _SIGNS[sign], (reader.take_word(may_be_empty=True),))
    if sign in _SETS:
        reader.take()
        return _checked(key, _SETS[sign], _read_values(reader))
    raise reader.complaint(f"{sign!r} after {key!r} is not an operator: use =, ==, !=, in, notin, > or <")


def _read_values(reader: _TokenReader) -> tuple[str, ...]:
    reader.expect("(")
    values = {reader.take_word(may_be_empty=True)}
    while reader.peek() == ",":
        reader.take()
        values.add(reader.take_word(may_be_empty=True))
    reader.expect(")")
    return tuple(sorted(values))


def _checked(key: str, operator: str, values: tuple[str, ...] = ()) -> LabelRequirement:
    _check_key(key)
    for value in values:
        _check_value(key, value)
    if operator in {"In", "NotIn"} and not values:
        raise SelectorError(f"{operator} on {key!r} needs at least one value")
    if operator in {"Exists", "DoesNotExist"} and values:
        raise SelectorError(f"{operator} on {key!r} takes no values")
    if operator in {"Gt", "Lt"} and not _is_int64(values[0]):
        raise SelectorError(f"{key!r} can only be compared with an integer, not with {values[0]!r}")
    return LabelRequirement(key, operator, values)


def _check_key(key: str) -> None:
    prefix, slash, name = key.rpartition("/")
    if not _NAME.fullmatch(name) or len(name) > 63:
        raise SelectorError(
            f"{key!r} is not a label key: its name must be 1-63 letters, digits, '-', '_' or '.'"
        )
    if slash and (not _PREFIX.fullmatch(prefix) or len(prefix) > 253):
        raise SelectorError(f"{key!r} is not a label key: what stands before '/' must be a DNS name")


def _check_value(key: str, value: str) -> None:
    if value and (not _NAME.fullmatch(value) or len(value) > 63):
        raise SelectorError(
            f"{value!r}, wanted for {key!r}, is not a label value: at most 63 letters, digits, '-', '_' "
            f"or '.', "
            "beginning and ending with a letter or digit"
        )


@dataclass(frozen=True, slots=True)
class FieldTerm:
    path: str
    value: str
    equal: bool


@dataclass(frozen=True, slots=True)
class FieldQuery:
    terms: tuple[FieldTerm, ...] = ()

    def matches(self, obj: Mapping[str, Any], getter: Callable[[Mapping[str, Any], str], str]) -> bool:
        return all((getter(obj, term.path) == term.value) == term.equal for term in self.terms)


def field_text(obj: Mapping[str, Any], path: str) -> str:
    """The value at a dotted path as a field selector sees it; an absent one is empty."""
    value: Any = obj
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def parse_field_selector(text: str) -> FieldQuery:
    r"""As in ?fieldSelector=: `spec.nodeName=a,status.phase!=Failed`; a backslash escapes `,` and `=`."""
    terms = [found[1] for found in _FIELD_SPLIT.finditer(text)]
    return FieldQuery(tuple(_read_field_term(term) for term in terms if term))


def _read_field_term(term: str) -> FieldTerm:
    found = _FIELD_TERM.fullmatch(term)
    if found is None:
        raise SelectorError(f"field selector {term!r}: expected a field, then =, == or !=, then a value")
    for escape in _ESCAPE.finditer(found["value"]):
        if escape[1] not in "\\,=":
            raise SelectorError(f"field selector {term!r}: {escape[0]!r} is no escape: use \\\\, \\, or \\=")
    return FieldTerm(found["path"], _ESCAPE.sub(r"\1", found["value"]), equal=found["sign"] != "!=")
