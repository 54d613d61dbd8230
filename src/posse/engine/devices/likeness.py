"""Which devices no claim of a search can tell apart: of these, one is tried for all."""

from collections.abc import Sequence

from posse.engine.devices.records import DeviceRecord
from posse.engine.devices.selecting import Allowance, Selecting
from posse.engine.devices.usage import DevicesInUse
from posse.engine.devices.wants import Want


class DeviceLikeness:
    """The costs of selectors are taken from the allowance. SelectorsTooCostly: it does not suffice."""

    def __init__(
        self, wants: Sequence[Want], selecting: Selecting, allowance: Allowance, in_use: DevicesInUse
    ) -> None:
        self._selecting = selecting
        self._allowance = allowance
        self._in_use = in_use
        self.alternatives = tuple(dict.fromkeys(one for want in wants for one in want.shape.alternatives))
        self._attributes = tuple(
            dict.fromkeys(one.attribute for want in wants for one in want.shape.constraints)
        )
        self._reads_capacity = any(one.capacity for one in self.alternatives)
        self._known: dict[DeviceRecord, int] = {}
        self._projections: dict[object, int] = {}

    def known(self, device: DeviceRecord) -> int | None:
        return self._known.get(device)

    def find(self, device: DeviceRecord) -> int:
        """A number that is equal for devices that are alike."""
        features = self._features(device)
        found = self._known[device] = self._projections.setdefault(features, len(self._projections))
        return found

    def _features(self, device: DeviceRecord) -> tuple[object, ...]:
        kind = device.kind
        selected = tuple(
            (self._selecting.projection(one, kind, self._allowance), one.tolerates(device.taints))
            for one in self.alternatives
        )
        return (
            selected,
            tuple(kind.attributes.get(name) for name in self._attributes),
            tuple(kind.capacity.items()) if kind.is_shareable or self._reads_capacity else (),
            kind.is_shareable,
            device.consumes,
            (device.node_name, device.selector, device.binds_to_node),
            (device.binding_conditions, device.failure_conditions),
            tuple(sorted(self._in_use[device.id].consumed.items())) if kind.is_shareable else (),
            device.id in self._in_use,
        )
