"""What Kubernetes adds to CEL: quantities, semantic versions, addresses and networks."""

import re
from contextlib import suppress
from fractions import Fraction
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_address,
    ip_interface,
    ip_network,
)
from typing import TypeAlias

from posse.cel.errors import EvaluationError
from posse.cel.functions import function, method
from posse.cel.semver import Semver, parse_semver
from posse.cel.types import BOOL, CIDR, DOUBLE, INT, IP, QUANTITY, SEMVER, STRING
from posse.cel.values import QuantityValue
from posse.model.quantity import QuantityError, parse_quantity

Address: TypeAlias = IPv4Address | IPv6Address
# An address with its prefix length: 10.1.2.3/24 keeps its last byte.
Network: TypeAlias = IPv4Interface | IPv6Interface

_PREFIX_LENGTH = re.compile(r"0|[1-9][0-9]{0,2}")
_INT64 = range(-(2**63), 2**63)
# Beyond this, a power of ten would be computed with more digits than anything real has.
_EXPONENT_MAX = 100


def quantity_value(text: str) -> QuantityValue:
    try:
        parsed = parse_quantity(text)
    except QuantityError as error:
        raise EvaluationError(str(error)) from error
    exponent = max(min(parsed.exponent, _EXPONENT_MAX), -_EXPONENT_MAX)
    return QuantityValue(parsed.mantissa * Fraction(10) ** exponent)


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except QuantityError:
        return False
    return True


def _is_integer(quantity: QuantityValue) -> bool:
    return quantity.amount.denominator == 1 and quantity.amount.numerator in _INT64


def _as_integer(quantity: QuantityValue) -> int:
    if not _is_integer(quantity):
        raise EvaluationError("cannot convert value to integer")
    return quantity.amount.numerator


def _add(quantity: QuantityValue, other: QuantityValue | int) -> QuantityValue:
    return QuantityValue(quantity.amount + (other.amount if isinstance(other, QuantityValue) else other))


def _sub(quantity: QuantityValue, other: QuantityValue | int) -> QuantityValue:
    return QuantityValue(quantity.amount - (other.amount if isinstance(other, QuantityValue) else other))


def _compare_quantities(one: QuantityValue, other: QuantityValue) -> int:
    return (one.amount > other.amount) - (one.amount < other.amount)


def _sign(quantity: QuantityValue) -> int:
    return (quantity.amount > 0) - (quantity.amount < 0)


def _semver(text: str, normalize: bool = False) -> Semver:
    version = parse_semver(text, normalize)
    if version is None:
        raise EvaluationError(f"{text[:64]!r} is not a semantic version")
    return version


def _compare_versions(one: Semver, other: Semver) -> int:
    return (one > other) - (one < other)


def _ip(text: str) -> Address:
    try:
        address = ip_address(text)
    except ValueError as error:
        raise EvaluationError(
            f"IP Address {text[:64]!r} parse error during conversion from string"
        ) from error
    if isinstance(address, IPv6Address) and (address.ipv4_mapped is not None or address.scope_id):
        raise EvaluationError(f"IPv4-mapped IPv6 address or zone {text[:64]!r} is not allowed")
    return address


def _is_ip(text: str) -> bool:
    try:
        _ip(text)
    except EvaluationError:
        return False
    return True


def _cidr(text: str) -> Network:
    address, _, prefix = text.partition("/")
    if _PREFIX_LENGTH.fullmatch(prefix) and _is_ip(address):
        with suppress(ValueError):
            return ip_interface(text)
    raise EvaluationError(f"network address parse error during conversion from string: {text[:64]!r}")


def _is_cidr(text: str) -> bool:
    try:
        _cidr(text)
    except EvaluationError:
        return False
    return True


def _contains_address(network: Network, address: Address | str) -> bool:
    parsed = _ip(address) if isinstance(address, str) else address
    return parsed.version == network.version and parsed in network.network


def _contains_network(network: Network, other: Network | str) -> bool:
    inner, outer = (_cidr(other) if isinstance(other, str) else other).network, network.network
    if isinstance(outer, IPv4Network) and isinstance(inner, IPv4Network):
        return inner.subnet_of(outer)
    return isinstance(outer, IPv6Network) and isinstance(inner, IPv6Network) and inner.subnet_of(outer)


def _is_global_unicast(address: Address) -> bool:
    limited = isinstance(address, IPv4Address) and address == IPv4Address("255.255.255.255")
    return not (limited or address.is_unspecified or address.is_loopback or address.is_multicast
                or address.is_link_local)  # fmt: skip


def _is_link_local_multicast(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in ip_network("224.0.0.0/24")
    return address.is_multicast and address.packed[1] & 15 == 2


QUANTITIES = {
    "quantity": [function(STRING, to=QUANTITY, run=quantity_value)],
    "isQuantity": [function(STRING, to=BOOL, run=_is_quantity)],
    "isInteger": [method(QUANTITY, to=BOOL, run=_is_integer)],
    "asInteger": [method(QUANTITY, to=INT, run=_as_integer)],
    "asApproximateFloat": [method(QUANTITY, to=DOUBLE, run=lambda quantity: float(quantity.amount))],
    "sign": [function(QUANTITY, to=INT, run=_sign)],
    "add": [method(QUANTITY, QUANTITY, to=QUANTITY, run=_add), method(QUANTITY, INT, to=QUANTITY, run=_add)],
    "sub": [method(QUANTITY, QUANTITY, to=QUANTITY, run=_sub), method(QUANTITY, INT, to=QUANTITY, run=_sub)],
    "isGreaterThan": [method(QUANTITY, QUANTITY, to=BOOL, run=lambda one, other: one.amount > other.amount)],
    "isLessThan": [method(QUANTITY, QUANTITY, to=BOOL, run=lambda one, other: one.amount < other.amount)],
    "compareTo": [method(QUANTITY, QUANTITY, to=INT, run=_compare_quantities)],
}

VERSIONS = {
    "semver": [
        function(STRING, to=SEMVER, run=_semver),
        function(STRING, BOOL, to=SEMVER, run=_semver),
    ],
    "isSemver": [
        function(STRING, to=BOOL, run=lambda text: parse_semver(text) is not None),
        function(
            STRING, BOOL, to=BOOL, run=lambda text, normalize: parse_semver(text, normalize) is not None
        ),
    ],
    "major": [method(SEMVER, to=INT, run=lambda version: version.major)],
    "minor": [method(SEMVER, to=INT, run=lambda version: version.minor)],
    "patch": [method(SEMVER, to=INT, run=lambda version: version.patch)],
    "isGreaterThan": [method(SEMVER, SEMVER, to=BOOL, run=lambda one, other: one > other)],
    "isLessThan": [method(SEMVER, SEMVER, to=BOOL, run=lambda one, other: one < other)],
    "compareTo": [method(SEMVER, SEMVER, to=INT, run=_compare_versions)],
}

ADDRESSES = {
    "ip": [function(STRING, to=IP, run=_ip), method(CIDR, to=IP, run=lambda network: network.ip)],
    "isIP": [function(STRING, to=BOOL, run=_is_ip)],
    "ip.isCanonical": [function(STRING, to=BOOL, run=lambda text: str(_ip(text)) == text)],
    "family": [method(IP, to=INT, run=lambda address: address.version)],
    "isUnspecified": [method(IP, to=BOOL, run=lambda address: address.is_unspecified)],
    "isLoopback": [method(IP, to=BOOL, run=lambda address: address.is_loopback)],
    "isLinkLocalMulticast": [method(IP, to=BOOL, run=_is_link_local_multicast)],
    "isLinkLocalUnicast": [method(IP, to=BOOL, run=lambda address: address.is_link_local)],
    "isGlobalUnicast": [method(IP, to=BOOL, run=_is_global_unicast)],
    "cidr": [function(STRING, to=CIDR, run=_cidr)],
    "isCIDR": [function(STRING, to=BOOL, run=_is_cidr)],
    "containsIP": [
        method(CIDR, IP, to=BOOL, run=_contains_address),
        method(CIDR, STRING, to=BOOL, run=_contains_address),
    ],
    "containsCIDR": [
        method(CIDR, CIDR, to=BOOL, run=_contains_network),
        method(CIDR, STRING, to=BOOL, run=_contains_network),
    ],
    "prefixLength": [method(CIDR, to=INT, run=lambda network: network.network.prefixlen)],
    "masked": [method(CIDR, to=CIDR, run=lambda network: ip_interface(network.network))],
    "string": [function(IP, to=STRING, run=str), function(CIDR, to=STRING, run=str)],
}
