"""What a search has taken so far, and can give back: devices, shares of them, and counters of their pools."""

from posse.engine.devices.pools import PoolKey
from posse.engine.devices.records import DeviceRecord
from posse.engine.devices.requests import Alternative
from posse.engine.devices.shares import Consumption
from posse.engine.devices.usage import DevicesInUse
from posse.engine.devices.wants import Offer


class TentativeUse:
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
