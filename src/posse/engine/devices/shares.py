"""How much of a device one claim consumes, if several claims may share the device."""

from collections.abc import Mapping

from posse.engine.devices.records import CapacityRecord, DeviceKind
from posse.engine.devices.requests import Alternative

Consumption = Mapping[str, int]
"""Amounts by capacity, under the names that the driver gave."""


def consumption(kind: DeviceKind, wanted: Alternative) -> Consumption | None:
    """What a share for this request would consume; None if the device cannot serve it at any time.

    Of a device that is not shared, nothing is consumed: the request only asks for a size.
    """
    requested: dict[str, int] = {}
    for name, amount in wanted.capacity:
        own = kind.capacity_name(name)
        if own is None or kind.capacity[own].value < amount:
            return None
        requested[own] = amount
    if not kind.is_shareable:
        return {}
    consumed: dict[str, int] = {}
    for name, capacity in kind.capacity.items():
        rounded = _rounded(capacity, requested.get(name))
        if rounded is None or rounded > capacity.value:
            return None
        consumed[name] = rounded
    return consumed


def _rounded(capacity: CapacityRecord, wanted: int | None) -> int | None:
    """The amount that the policy allows for a request; None if it allows none."""
    if wanted is None:
        return capacity.value if capacity.default is None else capacity.default
    if not capacity.has_policy:
        return wanted
    if capacity.valid_values:
        return next((one for one in capacity.valid_values if one >= wanted), None)
    if capacity.least is None:
        return wanted
    amount = max(wanted, capacity.least)
    if capacity.step:
        amount = capacity.least - (capacity.least - amount) // capacity.step * capacity.step
    return None if capacity.most is not None and amount > capacity.most else amount
