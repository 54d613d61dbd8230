"""Selectors of devices: an expression over the variable `device` that says whether a device is wanted."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

import msgspec

from posse.cel.compiler import Compiler, ObjectField
from posse.cel.errors import CelError, EvaluationError
from posse.cel.library.kubernetes import quantity_value
from posse.cel.parser import parse
from posse.cel.pieces import Piece
from posse.cel.semver import Semver
from posse.cel.types import BOOL, DEVICE, DYN, QUANTITY, STRING, map_of
from posse.cel.values import Value

LENGTH_MAX = 10 * 1024
COST_MAX = 1_000_000

# The most attributes and capacities that a device may have, and the longest of its strings.
_NAMES_MAX = 32
_TEXT_MAX = 64

_FIELDS = {
    "driver": ObjectField(STRING, _TEXT_MAX),
    "allowMultipleAllocations": ObjectField(BOOL, 1),
    "attributes": ObjectField(map_of(STRING, map_of(STRING, DYN)), _NAMES_MAX),
    "capacity": ObjectField(map_of(STRING, map_of(STRING, QUANTITY)), _NAMES_MAX),
}

Attribute: TypeAlias = bool | int | str | Semver
AttributeNames: TypeAlias = Mapping[str, Attribute]


class DeviceSelectorError(Exception):
    """A valid selector that has no value for some device."""

    def __init__(self, reason: str, cost: int = 0) -> None:
        super().__init__(reason)
        self.cost = cost
        """What it cost to find out."""


class DeviceFacts(msgspec.Struct, frozen=True):
    """What a selector sees of a device. A name without a domain belongs to the domain of the driver."""

    driver: str
    allow_multiple: bool = False
    attributes: AttributeNames = {}
    capacity: Mapping[str, str] = {}


class CompiledSelector:
    """A compiled selector. It is a function of the device alone: equal devices get equal answers."""

    __slots__ = ("_piece", "_slots", "text")

    def __init__(self, text: str, piece: Piece, slots: int) -> None:
        self.text = text
        self._piece = piece
        self._slots = slots

    def matches(self, facts: DeviceFacts) -> bool:
        return self.evaluated(facts)[0]

    def evaluated(self, facts: DeviceFacts) -> tuple[bool, int]:
        """Whether it matches, and what that cost."""
        frame: list[Value] = [None] * self._slots
        frame[0], frame[1] = COST_MAX, _device(facts)
        try:
            result = self._piece.run(frame)
        except EvaluationError as error:
            raise DeviceSelectorError(_advice(str(error)), _spent(frame)) from error
        if result is True or result is False:
            return bool(result), _spent(frame)
        raise DeviceSelectorError("the expression did not evaluate to a boolean", _spent(frame))


def _spent(frame: list[Value]) -> int:
    left = frame[0]
    return COST_MAX - max(0, int(left)) if isinstance(left, int | float) else 0


def _advice(reason: str) -> str:
    if reason.startswith("no such key"):
        return f"{reason}. consider using CEL optional chaining (.?name.orValue(...)) or has() for it"
    return reason


@lru_cache(maxsize=4096)
def device_selector(text: str) -> CompiledSelector:
    """Reads a selector. Raises `CelError`, in the words of Kubernetes, if it is not valid."""
    compiler = Compiler(text, {"device": DEVICE}, {DEVICE: _FIELDS})
    piece = compiler.compile(parse(text))
    if piece.type not in (BOOL, DYN):
        raise CelError(f"must evaluate to bool or the unknown type, not {piece.type}")
    if piece.cost > COST_MAX:
        raise CostLimitError
    return CompiledSelector(text, piece, compiler.slots)


class CostLimitError(CelError):
    """The expression is valid, but may take too many steps."""

    def __init__(self) -> None:
        super().__init__("too complex, exceeds cost limit")


class _Domains(dict[str, Mapping[str, Value]]):
    """Attributes by domain. A domain that the device does not have is empty, not missing."""

    def __missing__(self, domain: str) -> Mapping[str, Value]:
        if not isinstance(domain, str):
            raise KeyError(domain)
        return {}


def _device(facts: DeviceFacts) -> Mapping[str, Value]:
    return {
        "driver": facts.driver,
        "allowMultipleAllocations": facts.allow_multiple,
        "attributes": _by_domain(facts.driver, facts.attributes),
        "capacity": _by_domain(
            facts.driver, {name: quantity_value(amount) for name, amount in facts.capacity.items()}
        ),
    }


def _by_domain(driver: str, names: Mapping[str, Value]) -> _Domains:
    domains: dict[str, dict[str, Value]] = {}
    for name, value in names.items():
        domain, _, identifier = name.rpartition("/")
        domains.setdefault(domain or driver, {})[identifier] = value
    return _Domains(domains)
