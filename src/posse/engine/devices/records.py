"""Devices in comparable form. Devices that nothing can tell apart, except for their names, share a kind.

Amounts are whole numbers of billionths, so that sums and comparisons are exact. What is there once for each
device or claim is a Struct that the garbage collector does not look at: clusters have tens of thousands.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import msgspec

from posse.cel import DeviceFacts, Semver, parse_semver
from posse.model.device import Device, DeviceAttribute, DeviceCapacity, DeviceTaint
from posse.model.meta import Quantity
from posse.model.placement import NodeSelector
from posse.model.quantity import canonical, nano_value, parse_quantity

_NANO = 9


class DeviceId(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    driver: str
    pool: str
    name: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.name}"


AttributeValue = tuple[str, int | bool | str]
"""The type of an attribute, and its value: values of different types are never equal."""


@dataclass(frozen=True, slots=True)
class CapacityRecord:
    """One capacity of a device, and how much of it one claim may consume if several share the device."""

    value: int
    has_policy: bool = False
    default: int | None = None
    valid_values: tuple[int, ...] = ()
    least: int | None = None
    most: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DeviceKind:
    """What selectors, constraints and capacity requests read of a device."""

    facts: DeviceFacts
    attributes: Mapping[str, AttributeValue]
    """By qualified name."""
    capacity: Mapping[str, CapacityRecord]
    """By the name that the driver gave."""
    driver: str
    is_shareable: bool

    def capacity_name(self, wanted: str) -> str | None:
        """The name under which the device has this capacity; None if it has none."""
        if wanted in self.capacity:
            return wanted
        domain, _, name = wanted.rpartition("/")
        other = name if domain == self.driver else f"{self.driver}/{name}" if not domain else ""
        return other if other in self.capacity else None


class DeviceRecord(msgspec.Struct, frozen=True, gc=False, eq=False):
    id: DeviceId
    kind: DeviceKind
    taints: tuple[DeviceTaint, ...]
    """Taints that keep claims away which do not tolerate them."""
    consumes: tuple[tuple[str, str, int], ...]
    """Counter set, counter and amount."""
    node_name: str
    """The only node that reaches it; empty if others may."""
    selector: NodeSelector | None
    """The nodes that reach it, if it names no node; None for all."""
    binds_to_node: bool
    binding_conditions: tuple[str, ...]
    failure_conditions: tuple[str, ...]
    likeness: int
    """Equal for devices that differ in nothing but their names."""

    @property
    def pool(self) -> tuple[str, str]:
        return self.id.driver, self.id.pool


def quantity_of(amount: int, like: Quantity) -> str:
    """The amount as a quantity, with suffixes of the kind that another one has."""
    if nano_value(like) == amount:
        return canonical(like)
    units, rest = divmod(amount, 10**_NANO)
    if parse_quantity(like).family == "binary" and not rest:
        return canonical(f"{units // 1024}Ki" if units % 1024 == 0 else units)
    return canonical(f"{amount}n")


def attribute_value(attribute: DeviceAttribute) -> AttributeValue | None:
    """None for attributes of types that are unknown here, such as lists."""
    if attribute.int_value is not None:
        return "int", attribute.int_value
    if attribute.bool_value is not None:
        return "bool", attribute.bool_value
    if attribute.string_value is not None:
        return "string", attribute.string_value
    if attribute.version_value is not None:
        return "version", attribute.version_value
    return None


def capacity_record(capacity: DeviceCapacity) -> CapacityRecord:
    policy = capacity.request_policy
    if policy is None:
        return CapacityRecord(nano_value(capacity.value))
    span = policy.valid_range

    def optional(quantity: Quantity | None) -> int | None:
        return nano_value(quantity) if quantity is not None else None

    return CapacityRecord(
        nano_value(capacity.value),
        has_policy=True,
        default=optional(policy.default),
        valid_values=tuple(map(nano_value, policy.valid_values)),
        least=optional(span.min) if span is not None else None,
        most=optional(span.max) if span is not None else None,
        step=optional(span.step) if span is not None else None,
    )


class DeviceKinds:
    """All kinds that were ever seen, each once."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, DeviceKind] = {}
        self._likeness: dict[Hashable, int] = {}

    def kind(self, driver: str, device: Device) -> DeviceKind:
        """Raise QuantityError if a capacity is invalid."""
        values = {name: attribute_value(one) for name, one in sorted(device.attributes.items())}
        attributes = {name: value for name, value in values.items() if value is not None}
        capacity = {name: capacity_record(one) for name, one in sorted(device.capacity.items())}
        is_shareable = bool(device.allow_multiple_allocations)
        key = driver, is_shareable, tuple(attributes.items()), tuple(capacity.items())
        known = self._kinds.get(key)
        if known is None:
            quantities = {name: str(one.value) for name, one in device.capacity.items()}
            facts = DeviceFacts(
                driver=driver,
                allow_multiple=is_shareable,
                attributes={name: _fact(value) for name, value in attributes.items()},
                capacity=quantities,
            )
            qualified = {name if "/" in name else f"{driver}/{name}": one for name, one in attributes.items()}
            qualified |= {name: one for name, one in attributes.items() if "/" in name}
            known = self._kinds[key] = DeviceKind(facts, qualified, capacity, driver, is_shareable)
        return known

    def likeness(self, *features: Hashable) -> int:
        return self._likeness.setdefault(features, len(self._likeness))


def _fact(value: AttributeValue) -> int | bool | str | Semver:
    """A version that is none is compared as text."""
    kind, raw = value
    parsed = parse_semver(str(raw)) if kind == "version" else None
    return raw if parsed is None else parsed
