"""Values of expressions while they are evaluated, how they compare, and of which type they are.

Numbers, strings, bytes, null and lists are those of Python. A map is a `dict` with keys from `map_key`.
"""

from collections.abc import Mapping
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from typing import Any, NamedTuple, TypeAlias

from posse.cel.errors import EvaluationError
from posse.cel.semver import Semver
from posse.cel.syntax import UInt
from posse.cel.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    FORMAT,
    INT,
    IP,
    NULL,
    QUANTITY,
    SEMVER,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    URL,
    Type,
    list_of,
    map_of,
    optional_of,
)

Value: TypeAlias = Any


class Optional(NamedTuple):
    """`optional.of(value)`, or `optional.none()`."""

    is_set: bool
    value: Value = None


NOTHING = Optional(False)


class QuantityValue(NamedTuple):
    """A quantity of Kubernetes, exactly."""

    amount: Fraction


class Timestamp(NamedTuple):
    """A point in time, in nanoseconds since 1970."""

    nanos: int


class Duration(NamedTuple):
    nanos: int


class Url(NamedTuple):
    scheme: str
    host: str
    path: str
    """As it is written, with its escapes."""
    query: str


class NamedFormat(NamedTuple):
    name: str


class _NumberKey(NamedTuple):
    number: float


def map_key(key: Value) -> Value:
    """The key under which a map keeps an entry. 1, 1u and 1.0 are one key; true is another."""
    kind = type(key)
    if kind is str or kind is bool:
        return key if kind is str else ("bool", key)
    if kind in (int, UInt, float):
        return _NumberKey(key)
    raise EvaluationError(f"unsupported key type: {type_of(key)}")


def plain_key(key: Value) -> Value:
    """The key as an expression sees it: the opposite of `map_key`."""
    if isinstance(key, _NumberKey):
        return key.number
    return key[1] if isinstance(key, tuple) else key


def are_equal(one: Value, other: Value) -> bool:
    """Equality of CEL: numbers by value whatever their type, and values of other types are different."""
    kind, other_kind = type(one), type(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(are_equal(one[key], other[key]) for key in one)
    if kind is not other_kind:
        return kind in _NUMBERS and other_kind in _NUMBERS and bool(one == other)
    if kind is list:
        return len(one) == len(other) and all(map(are_equal, one, other))
    if kind is Optional:
        return one.is_set == other.is_set and are_equal(one.value, other.value)
    return bool(one == other)


_NUMBERS = frozenset({int, UInt, float})

_TYPES: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    UInt: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
    list: list_of(DYN),
    dict: map_of(DYN, DYN),
    Optional: optional_of(DYN),
    QuantityValue: QUANTITY,
    Semver: SEMVER,
    IPv4Address: IP,
    IPv6Address: IP,
    IPv4Interface: CIDR,
    IPv6Interface: CIDR,
    Type: TYPE,
    Timestamp: TIMESTAMP,
    Duration: DURATION,
    Url: URL,
    NamedFormat: FORMAT,
}


def type_of(value: Value) -> Type:
    found = _TYPES.get(type(value))
    if found is not None:
        return found
    return map_of(DYN, DYN) if isinstance(value, Mapping) else DYN
