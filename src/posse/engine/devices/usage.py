"""Devices in use, anywhere in the cluster: whole devices, shares of devices, and counters of pools."""

from collections.abc import Iterable

import msgspec

from posse.engine.devices.records import DeviceId


class UsedDevice(msgspec.Struct, frozen=True, gc=False):
    """One device in use by one claim; `consumed` is set for a share of it."""

    device: DeviceId
    consumed: tuple[tuple[str, int], ...] | None = None


class DeviceUse(msgspec.Struct, eq=False, gc=False):
    """The use of one device by all claims together."""

    holders: int = 0
    """Claims that use it, whole or in part."""
    consumed: dict[str, int] = msgspec.field(default_factory=dict)


NOT_USED = DeviceUse()


class DevicesInUse:
    def __init__(self) -> None:
        self._uses: dict[DeviceId, DeviceUse] = {}
        self.get = self._uses.get
        """The use of a device; None if it is not in use."""

    def __getitem__(self, device: DeviceId) -> DeviceUse:
        return self._uses.get(device, NOT_USED)

    def __contains__(self, device: DeviceId) -> bool:
        return device in self._uses

    def add(self, devices: Iterable[UsedDevice]) -> None:
        for one in devices:
            use = self._uses.get(one.device)
            if use is None:
                use = self._uses[one.device] = DeviceUse()
            use.holders += 1
            for name, amount in one.consumed or ():
                use.consumed[name] = use.consumed.get(name, 0) + amount

    def remove(self, devices: Iterable[UsedDevice]) -> None:
        for one in devices:
            use = self._uses[one.device]
            use.holders -= 1
            for name, amount in one.consumed or ():
                use.consumed[name] -= amount
            if not use.holders:
                del self._uses[one.device]
