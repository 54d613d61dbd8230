"""Resource quantities ("500m", "1.5Gi", "2e3", 4), read exactly as Kubernetes reads them, in integers only.

A quantity is `mantissa * 10**exponent`. Nothing finer than a nano survives parsing: it is rounded away from
zero, so that a small request stays a small one. Which unit suits which resource is the caller's
business.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from posse.model.meta import Quantity

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)

_NANO = -9
_MILLI = -3
# Python refuses to read integers of more than 4,300 digits; nothing real comes near this.
_LENGTH_MAX = 1000
_EXPONENT_MAX = 2**31 - 1
# 10**19 is beyond int64, so a larger power of a non-zero mantissa saturates without being computed.
_POWER_BEYOND_INT64 = 19
# Nothing real has more digits, and a larger power of ten may take forever to compute.
_POWER_MAX = 100
_NANO_MAX: int = 10 ** (_POWER_MAX - _NANO)

_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES = {power: suffix for suffix, power in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")

# Digits may be missing altogether: Kubernetes reads "m" and "+" as zero, and objects it accepted must be
# readable here.
_NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([A-Za-z]*|[eE][+-]?[0-9]+)")


class QuantityError(ValueError):
    """The text is not a quantity."""

    def __init__(self, raw: object, reason: str) -> None:
        super().__init__(f"{str(raw)[:64]!r} is not a quantity: {reason}")


class ParsedQuantity(NamedTuple):
    mantissa: int
    exponent: int
    # The suffix family it was written in, which it is printed in again: "decimal", "binary" or "exponent".
    family: str


@lru_cache(maxsize=16384)
def parse_quantity(raw: Quantity) -> ParsedQuantity:
    text = str(raw).strip()
    found = _NUMBER.fullmatch(text)
    if not text or found is None:
        raise QuantityError(raw, "expected a number and a suffix, such as 500m, 2 or 1.5Gi")
    if len(text) > _LENGTH_MAX:
        raise QuantityError(raw, f"it is longer than {_LENGTH_MAX} characters")
    sign, whole, fraction, suffix = found.group(1), found.group(2), found.group(3) or "", found.group(4)
    magnitude = int(whole + fraction or "0")
    family, power = _read_suffix(raw, suffix)
    if family == "binary":
        quantity = _binary(magnitude << power, -len(fraction))
    else:
        quantity = ParsedQuantity(*_round_to_nano(magnitude, power - len(fraction)), family)
    return quantity._replace(mantissa=-quantity.mantissa) if sign == "-" else quantity


def _read_suffix(raw: Quantity, suffix: str) -> tuple[str, int]:
    if suffix in _DECIMAL_SUFFIXES:
        return "decimal", _DECIMAL_SUFFIXES[suffix]
    if suffix in _BINARY_SUFFIXES:
        return "binary", _BINARY_SUFFIXES[suffix]
    if suffix[-1].isdigit():
        power = int(suffix[1:])
        if abs(power) > _EXPONENT_MAX:
            raise QuantityError(raw, f"the exponent {power} is out of range")
        return "exponent", power
    known = " ".join((*filter(None, _DECIMAL_SUFFIXES), *_BINARY_SUFFIXES))
    raise QuantityError(raw, f"the suffix {suffix!r} is none of {known} and no exponent such as e3")


def _binary(magnitude: int, exponent: int) -> ParsedQuantity:
    """Binary quantities are capped. Below one they count as decimal: no binary suffix could print them."""
    mantissa, exponent = _round_to_nano(magnitude, exponent)
    unit = 10**-exponent
    if mantissa > INT64_MAX * unit:
        return ParsedQuantity(INT64_MAX, 0, "binary")
    return ParsedQuantity(mantissa, exponent, "decimal" if 0 < mantissa < unit else "binary")


def _round_to_nano(magnitude: int, exponent: int) -> tuple[int, int]:
    if exponent >= _NANO or magnitude == 0:
        return magnitude, max(exponent, _NANO)
    surplus = min(_NANO - exponent, _LENGTH_MAX)
    return -(-magnitude // 10**surplus), _NANO


@lru_cache(maxsize=16384)
def value(raw: Quantity) -> int:
    """In whole units, rounded away from zero, as Kubernetes' Value; saturates at int64."""
    return _scaled(parse_quantity(raw), 0)


@lru_cache(maxsize=16384)
def milli_value(raw: Quantity) -> int:
    """In thousandths, rounded away from zero, as Kubernetes' MilliValue; saturates at int64."""
    return _scaled(parse_quantity(raw), _MILLI)


def nano_value(raw: Quantity) -> int:
    """In billionths; what is beyond 10**100 counts as that."""
    quantity = parse_quantity(raw)
    units: int = quantity.mantissa * 10 ** (min(quantity.exponent, _POWER_MAX) - _NANO)
    return max(-_NANO_MAX, min(units, _NANO_MAX))


def _scaled(quantity: ParsedQuantity, unit: int) -> int:
    power = quantity.exponent - unit
    magnitude: int = abs(quantity.mantissa)
    if power >= 0:
        magnitude *= 10 ** min(power, _POWER_BEYOND_INT64)
    else:
        magnitude = -(-magnitude // 10**-power)
    return min(magnitude, INT64_MAX) if quantity.mantissa >= 0 else max(-magnitude, INT64_MIN)


@lru_cache(maxsize=4096)
def canonical(raw: Quantity) -> str:
    """The text Kubernetes prints: no fraction, the largest suffix of its family that loses nothing."""
    quantity = parse_quantity(raw)
    if quantity.mantissa == 0:
        return "0"
    if quantity.family == "binary":
        units = _scaled(quantity, 0)
        if abs(units) >= 1024 and units * 10**-quantity.exponent == quantity.mantissa:
            return _print_binary(units)
    return _print_decimal(quantity)


def _print_binary(units: int) -> str:
    step = 0
    while units % 1024 == 0:
        units //= 1024
        step += 1
    return f"{units}{_BINARY_NAMES[step]}"


def _print_decimal(quantity: ParsedQuantity) -> str:
    digits = str(quantity.mantissa).rstrip("0")
    exponent = quantity.exponent + len(str(quantity.mantissa)) - len(digits)
    padding = exponent % 3
    digits, exponent = digits + "0" * padding, exponent - padding
    if quantity.family == "exponent":
        return f"{digits}e{exponent}" if exponent else digits
    # Beyond exa there is no suffix; an exponent keeps the value.
    return digits + _DECIMAL_NAMES.get(exponent, f"e{exponent}")
