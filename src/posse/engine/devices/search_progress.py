"""How far a search for devices has come, in all and with each claim. What it took, it can give back."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from posse.engine.devices.pools import PoolKey
from posse.engine.devices.records import AttributeValue, DeviceRecord
from posse.engine.devices.requests import Alternative
from posse.engine.devices.shares import Consumption
from posse.engine.devices.usage import DevicesInUse
from posse.engine.devices.wants import Grant, Offer, Want


class TentativeUse:
    """Devices that the search holds beside what others have, shares of them, and counters of their pools."""

    def __init__(self, in_use: DevicesInUse) -> None:
        self._in_use = in_use
        self.held: dict[DeviceRecord, int] = {}
        """With the number of times."""
        self._consumed: dict[tuple[DeviceRecord, str], int] = {}
        self._counted: dict[tuple[PoolKey, str, str], int] = {}

    def is_free(self, device: DeviceRecord) -> bool:
        """Whether no others have the device, or it can be shared."""
        return device.kind.is_shareable or device.id not in self._in_use

    def of(self, device: DeviceRecord) -> tuple[int, ...]:
        """How many times the device is held, and how much of each capacity."""
        times = self.held.get(device, 0)
        if not times:
            return ()
        return times, *(self._consumed.get((device, name), 0) for name in device.kind.capacity)

    def can_have(
        self, offer: Offer, wanted: Alternative, device: DeviceRecord, consumed: Consumption
    ) -> bool:
        if not wanted.tolerates(device.taints) or not self._is_open(device):
            return False
        if device.kind.is_shareable:
            used = self._in_use[device.id].consumed
            for name, amount in consumed.items():
                taken = used.get(name, 0) + self._consumed.get((device, name), 0)
                if taken + amount > device.kind.capacity[name].value:
                    return False
        return self._has_counters(offer, device)

    def _is_open(self, device: DeviceRecord) -> bool:
        if device.kind.is_shareable:
            return True
        return device not in self.held and device.id not in self._in_use

    def _has_counters(self, offer: Offer, device: DeviceRecord) -> bool:
        """The counters of a shared device are charged once, with its first share."""
        if not device.consumes or device in self.held or device.id in self._in_use:
            return True
        left = offer.counters[device.pool]
        return all(
            left[counter_set, name] - self._counted.get((device.pool, counter_set, name), 0) >= amount
            for counter_set, name, amount in device.consumes
        )

    def take(self, device: DeviceRecord, share: Consumption | None) -> None:
        self._change(device, share, 1)

    def give_back(self, device: DeviceRecord, share: Consumption | None) -> None:
        self._change(device, share, -1)

    def _change(self, device: DeviceRecord, share: Consumption | None, sign: int) -> None:
        held = self.held.get(device, 0)
        if device.consumes and device.id not in self._in_use and held == (0 if sign > 0 else 1):
            for counter_set, name, amount in device.consumes:
                key = device.pool, counter_set, name
                self._counted[key] = self._counted.get(key, 0) + sign * amount
        for name, amount in (share or {}).items():
            self._consumed[device, name] = self._consumed.get((device, name), 0) + sign * amount
        if held + sign:
            self.held[device] = held + sign
        else:
            del self.held[device]


@dataclass(slots=True, eq=False)
class ClaimProgress:
    """Devices of one claim so far, and the values that its constraints compare."""

    want: Want
    has_admin: bool
    like: "ClaimProgress | None"
    """The last claim before it that asks for the same of the same devices."""
    grants: list[Grant] = field(default_factory=list)
    values: list[list[AttributeValue]] = field(default_factory=list)
    """By constraint: the values of the devices so far."""

    @property
    def first_position(self) -> int:
        """Where the claim's first device may be at the earliest.

        Claims that ask for the same can change places, so the first solution has their first devices in
        order.
        """
        return self.like.grants[0].position if self.like is not None else 0

    def has(self, device: DeviceRecord) -> bool:
        return any(one.device is device for one in self.grants)

    def constrain(self, index: int, wanted: Alternative, device: DeviceRecord) -> int | None:
        """Note the device in all constraints that cover it; None if it breaks one, else a bit for each."""
        request, noted = self.want.shape.requests[index].name, 0
        for bit, constraint in enumerate(self.want.shape.constraints):
            if not constraint.covers(request, wanted.name):
                continue
            value, values = device.kind.attributes.get(constraint.attribute), self.values[bit]
            breaks = value is None or (
                value in values if constraint.is_distinct else bool(values) and values[0] != value
            )
            if breaks or value is None:
                self.forget(noted)
                return None
            values.append(value)
            noted |= 1 << bit
        return noted

    def forget(self, noted: int) -> None:
        """Undo what `constrain` noted last."""
        for bit, values in enumerate(self.values):
            if noted >> bit & 1:
                values.pop()


def progress_of(wants: Sequence[Want]) -> list[ClaimProgress]:
    claims: list[ClaimProgress] = []
    last: dict[tuple[int, int], ClaimProgress] = {}
    for want in wants:
        key = id(want.shape), id(want.offer.devices)
        has_admin = any(one.is_admin for one in want.shape.alternatives)
        claim = ClaimProgress(want, has_admin, last.get(key), [], [[] for _ in want.shape.constraints])
        claims.append(claim)
        last[key] = claim
    return claims
