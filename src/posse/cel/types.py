"""The types of CEL, and which argument fits which parameter."""

from typing import NamedTuple


class Type(NamedTuple):
    name: str
    parameters: "tuple[Type, ...]" = ()

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"


DYN = Type("dyn")
BOOL = Type("bool")
INT = Type("int")
UINT = Type("uint")
DOUBLE = Type("double")
STRING = Type("string")
BYTES = Type("bytes")
NULL = Type("null_type")
TYPE = Type("type")
QUANTITY = Type("kubernetes.Quantity")
SEMVER = Type("kubernetes.Semver")
IP = Type("net.IP")
CIDR = Type("net.CIDR")
TIMESTAMP = Type("google.protobuf.Timestamp")
DURATION = Type("google.protobuf.Duration")
URL = Type("kubernetes.URL")
FORMAT = Type("kubernetes.NamedFormat")
DEVICE = Type("kubernetes.DRADevice")

# Stand for any type within one signature.
A = Type("<A>")
B = Type("<B>")
_VARIABLES = frozenset({A, B})


def list_of(item: Type) -> Type:
    return Type("list", (item,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("optional_type", (value,))


def fits(parameter: Type, argument: Type, bound: dict[Type, Type]) -> bool:
    """Whether the argument may stand for the parameter. `bound` collects what type variables stand for."""
    if parameter in _VARIABLES:
        known = bound.setdefault(parameter, argument)
        if DYN in (known, argument):
            bound[parameter] = DYN
        return join(known, argument) is not None
    if DYN in (parameter, argument):
        return True
    if parameter.name != argument.name or len(parameter.parameters) != len(argument.parameters):
        return False
    return all(fits(*pair, bound) for pair in zip(parameter.parameters, argument.parameters, strict=True))


def join(one: Type, other: Type) -> Type | None:
    """The type of which both are; None if they have nothing in common. dyn gives way to what is known."""
    if other in (one, DYN):
        return one
    if one == DYN:
        return other
    if one.name != other.name or len(one.parameters) != len(other.parameters):
        return None
    joined = [join(*pair) for pair in zip(one.parameters, other.parameters, strict=True)]
    parts = [part for part in joined if part is not None]
    return Type(one.name, tuple(parts)) if len(parts) == len(joined) else None


def resolve(result: Type, bound: dict[Type, Type]) -> Type:
    if result in _VARIABLES:
        return bound.get(result, DYN)
    if not result.parameters:
        return result
    return Type(result.name, tuple(resolve(part, bound) for part in result.parameters))


def is_known(kind: Type) -> bool:
    """Whether the type says all about its values: nothing within it is dyn."""
    return kind != DYN and all(is_known(part) for part in kind.parameters)
