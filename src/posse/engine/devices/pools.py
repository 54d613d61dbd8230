"""Pools of devices, from the ResourceSlices of their highest generation, with the taints of DeviceTaintRules.

A pool whose slices are not all known is incomplete, and one that contradicts itself is invalid: neither gives
devices. Its nodes are known all the same, to tell pods there what is wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from posse.engine.devices.records import DeviceId, DeviceKinds, DeviceRecord
from posse.model.device import (
    NO_EXECUTE,
    NO_SCHEDULE,
    Device,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintSelector,
    ResourceSlice,
)
from posse.model.placement import NodeSelector
from posse.model.quantity import QuantityError, nano_value

PoolKey = tuple[str, str]
"""Driver and pool name."""
Counters = Mapping[tuple[str, str], int]
"""Amounts by counter set and counter."""

_REPELLING = frozenset({NO_SCHEDULE, NO_EXECUTE})


class PoolRecord(msgspec.Struct, frozen=True, eq=False, gc=False):
    key: PoolKey
    devices: tuple[DeviceRecord, ...]
    """In the order in which the driver wants them to be given away; none unless the pool is usable."""
    ids: tuple[DeviceId, ...]
    """Of these devices."""
    counters: Counters
    is_complete: bool
    error: str
    """Why the pool is invalid; empty if it is valid."""
    node_names: tuple[str, ...]
    """Nodes that its slices name."""
    selectors: tuple[NodeSelector | None, ...]
    """Node selectors of other slices; None for all nodes."""
    is_slow: bool
    """Whether devices of it take time to be ready."""
    likeness: int
    """Equal for pools that differ in nothing but names."""

    @property
    def rank(self) -> tuple[bool, str, str]:
        """The order of pools: those whose devices take time to be ready come last."""
        return self.is_slow, *self.key


def pool_key(one: ResourceSlice) -> PoolKey:
    return one.spec.driver, one.spec.pool.name


class _SliceDevices(NamedTuple):
    """What was read of a slice."""

    where: ResourceSlice
    devices: tuple[DeviceRecord, ...]


class PoolReader:
    """A slice that has not changed is not read again with the others of its pool."""

    def __init__(self) -> None:
        self.kinds = DeviceKinds()
        self._read: dict[PoolKey, dict[str, _SliceDevices]] = {}
        """By pool, by name of the slice."""
        self._rules: tuple[DeviceTaintRule, ...] = ()
        """With which these were read."""

    def forget(self, key: PoolKey) -> None:
        """The pool has no slices any more."""
        self._read.pop(key, None)

    def read(self, known: Sequence[ResourceSlice], rules: Sequence[DeviceTaintRule]) -> PoolRecord:
        """The pool that these slices, of all generations, describe."""
        newest = max(one.spec.pool.generation for one in known)
        slices = sorted(
            (one for one in known if one.spec.pool.generation == newest), key=lambda one: one.metadata.name
        )
        key = pool_key(slices[0])
        is_complete = len(slices) >= max(one.spec.pool.resource_slice_count for one in slices)
        counters: dict[tuple[str, str], int] = {}
        devices: list[DeviceRecord] = []
        error = ""
        try:
            counters = _counters(slices)
            devices = self._devices(key, slices, tuple(rules))
            _check(devices, counters)
        except (QuantityError, PoolError) as wrong:
            error = str(wrong)
        names, selectors = _reach(slices)
        given = tuple(devices) if is_complete and not error else ()
        return PoolRecord(
            key,
            given,
            tuple(device.id for device in given),
            counters,
            is_complete,
            error,
            names,
            selectors,
            is_slow=any(device.binding_conditions for device in given),
            likeness=self.kinds.likeness(
                tuple(device.likeness for device in given),
                tuple(sorted(counters.items())),
                is_complete,
                bool(error),
            ),
        )

    def _devices(
        self, key: PoolKey, slices: Sequence[ResourceSlice], rules: tuple[DeviceTaintRule, ...]
    ) -> list[DeviceRecord]:
        if rules != self._rules:
            self._read.clear()
            self._rules = rules
        before, read = self._read.pop(key, {}), self._read.setdefault(key, {})
        for where in slices:
            name = where.metadata.name
            known = before.get(name)
            if known is None or known.where is not where:
                made = tuple([self._device(where, device, rules) for device in where.spec.devices])
                known = _SliceDevices(where, made)
            read[name] = known
        return [device for one in read.values() for device in one.devices]

    def _device(self, where: ResourceSlice, device: Device, rules: Sequence[DeviceTaintRule]) -> DeviceRecord:
        spec, kind = where.spec, self.kinds.kind(where.spec.driver, device)
        identity = DeviceId(spec.driver, spec.pool.name, device.name)
        source = device if spec.per_device_node_selection else spec
        consumes = tuple(
            (one.counter_set, name, nano_value(counter.value))
            for one in device.consumes_counters
            for name, counter in sorted(one.counters.items())
        )
        taints = tuple(taint for taint in _taints(identity, device, rules) if taint.effect in _REPELLING)
        features = (
            source.node_name or "",
            source.node_selector,
            bool(device.binds_to_node),
            device.binding_conditions,
            device.binding_failure_conditions,
        )
        likeness = self.kinds.likeness(id(kind), taints, consumes, *features[2:], features[1])
        return DeviceRecord(identity, kind, taints, consumes, *features, likeness=likeness)


class PoolError(ValueError):
    """Slices of one pool contradict each other."""


def _counters(slices: Sequence[ResourceSlice]) -> dict[tuple[str, str], int]:
    counters: dict[tuple[str, str], int] = {}
    seen: dict[str, None] = {}
    for counter_set in (one for where in slices for one in where.spec.shared_counters):
        if counter_set.name in seen:
            raise PoolError(f"duplicate counter set {counter_set.name}")
        seen[counter_set.name] = None
        for name, counter in counter_set.counters.items():
            counters[counter_set.name, name] = nano_value(counter.value)
    return counters


def _check(devices: Sequence[DeviceRecord], counters: Counters) -> None:
    seen: dict[str, None] = {}
    for device in devices:
        if device.id.name in seen:
            raise PoolError(f"duplicate device {device.id.name}")
        seen[device.id.name] = None
        for counter_set, name, _ in device.consumes:
            if (counter_set, name) not in counters:
                raise PoolError(f"device {device.id.name} consumes the unknown counter {counter_set}/{name}")


def _reach(slices: Sequence[ResourceSlice]) -> tuple[tuple[str, ...], tuple[NodeSelector | None, ...]]:
    names: dict[str, None] = {}
    selectors: dict[NodeSelector | None, None] = {}
    for where in slices:
        spec = where.spec
        for source in spec.devices if spec.per_device_node_selection else (spec,):
            if source.node_name:
                names[source.node_name] = None
            else:
                selectors[source.node_selector] = None
    return tuple(names), tuple(selectors)


def _taints(identity: DeviceId, device: Device, rules: Sequence[DeviceTaintRule]) -> Iterator[DeviceTaint]:
    """Without the time at which they were added, which no allocation depends on."""
    for taint in device.taints:
        yield DeviceTaint(key=taint.key, value=taint.value, effect=taint.effect)
    for rule in rules:
        taint = rule.spec.taint
        if rule.spec.device_selector is not None and _selects(rule.spec.device_selector, identity):
            yield DeviceTaint(key=taint.key, value=taint.value, effect=taint.effect)


def _selects(selector: DeviceTaintSelector, device: DeviceId) -> bool:
    wanted = (selector.driver, selector.pool, selector.device)
    found = (device.driver, device.pool, device.name)
    return all(one is None or one == other for one, other in zip(wanted, found, strict=True))
