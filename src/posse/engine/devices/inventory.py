"""The devices that each node can reach, and which nodes are equal in this respect.

A pool whose devices all belong to one node is local to it; any other pool spans nodes. The state of a row is
a number: rows of the same number have equal devices in equal order, and equal ones of the local devices are
in use. So a search on one of these rows answers for all of them.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec
import numpy as np

from posse.engine.devices.pools import Counters, PoolKey, PoolReader, PoolRecord, pool_key
from posse.engine.devices.records import DeviceId, DeviceRecord
from posse.engine.devices.usage import DevicesInUse
from posse.engine.devices.wants import Offer
from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.node_table import NodeTable
from posse.engine.storage.reachability import Reach
from posse.model.device import DeviceTaintRule, ResourceSlice
from posse.model.placement import NodeSelector

_MAX_STATES = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """What rows with equal devices have in common."""

    number: int
    is_spanned: bool
    """Whether devices of other nodes, or of none, are among them."""


class _Place(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The devices of one node."""

    layout: _Layout
    pools: tuple[PoolRecord, ...]
    devices: tuple[DeviceRecord, ...]
    local: tuple[DeviceId, ...]


class Inventory:
    def __init__(self, nodes: NodeTable, in_use: DevicesInUse) -> None:
        self.version = 0
        """Grows when devices come, go or change."""
        self.span_version = 0
        """Grows when the use of a device changes that is not local to one node."""
        self.slow_pools = 0
        """Pools with devices that take time to be ready."""
        self._nodes = nodes
        self._in_use = in_use
        self._reach = Reach(nodes)
        self._reader = PoolReader()
        self._slices: dict[PoolKey, dict[str, ResourceSlice]] = {}
        self._rules: dict[str, DeviceTaintRule] = {}
        self._pools: dict[PoolKey, PoolRecord] = {}
        self._unusable: dict[PoolKey, PoolRecord] = {}
        """Pools that are incomplete or invalid."""
        self._changed_pools: dict[PoolKey, None] = {}
        self._local: dict[str, dict[PoolKey, None]] = {}
        """Local pools by node."""
        self._spanning: dict[PoolKey, None] = {}
        self._node_of: dict[DeviceId, str] = {}
        """The node of every local device."""
        self._spanned: dict[DeviceId, PoolKey] = {}
        self._layouts: dict[Hashable, _Layout] = {}
        self._states: dict[Hashable, int] = {}
        self._places: dict[str, _Place] = {}
        self._row_states: IntArray = np.empty(0, dtype=np.int64)
        self._stale_nodes: dict[str, None] = {}
        self._described = -1
        """Version of the node descriptions that the row states agree with."""
        self._masks: dict[NodeSelector | None, BoolArray] = {}
        self._masked = -1

    # --- what the cluster shows --------------------------------------------------------------------------

    def put_slice(self, one: ResourceSlice) -> None:
        self.drop_slice(one)
        self._slices.setdefault(pool_key(one), {})[one.metadata.name] = one

    def drop_slice(self, one: ResourceSlice) -> None:
        """Slices keep their driver and pool name."""
        key = pool_key(one)
        self._changed_pools[key] = None
        known = self._slices.get(key, {})
        known.pop(one.metadata.name, None)
        if not known:
            self._slices.pop(key, None)

    def put_rule(self, rule: DeviceTaintRule) -> None:
        self._rules[rule.metadata.name] = rule
        self._changed_pools |= dict.fromkeys(self._slices)

    def drop_rule(self, name: str) -> None:
        if self._rules.pop(name, None) is not None:
            self._changed_pools |= dict.fromkeys(self._slices)

    def take_changes(self) -> tuple[list[str], bool]:
        """Nodes whose devices have changed since the last call, and whether those of any node may have."""
        if not self._changed_pools:
            return [], False
        nodes: dict[str, None] = {}
        spans = False
        for key in self._changed_pools:
            spans |= key in self._spanning
            nodes |= dict.fromkeys(self._forget(key))
            nodes |= dict.fromkeys(self._read(key))
            spans |= key in self._spanning
        self._changed_pools.clear()
        self.version += 1
        if spans:
            self._places.clear()
            self._described = -1
        return list(nodes), spans

    @property
    def has_spanning_pools(self) -> bool:
        return bool(self._spanning)

    def device(self, identity: DeviceId) -> DeviceRecord | None:
        pool = self._pools.get((identity.driver, identity.pool))
        return next((one for one in pool.devices if one.id == identity), None) if pool is not None else None

    def pools(self) -> Iterable[PoolRecord]:
        return self._pools.values()

    def _forget(self, key: PoolKey) -> Sequence[str]:
        pool = self._pools.pop(key, None)
        if pool is None:
            return ()
        self.slow_pools -= pool.is_slow
        self._spanning.pop(key, None)
        self._unusable.pop(key, None)
        for device in pool.devices:
            self._node_of.pop(device.id, None)
            self._spanned.pop(device.id, None)
        for node in pool.node_names:
            self._local.get(node, {}).pop(key, None)
            self._mark(node)
        return pool.node_names

    def _read(self, key: PoolKey) -> Sequence[str]:
        known = self._slices.get(key)
        if not known:
            self._reader.forget(key)
            return ()
        pool = self._pools[key] = self._reader.read(list(known.values()), list(self._rules.values()))
        self.slow_pools += pool.is_slow
        if pool.error or not pool.is_complete:
            self._unusable[key] = pool
        if pool.selectors or len(pool.node_names) != 1:
            self._spanning[key] = None
            self._spanned |= {device.id: key for device in pool.devices}
        else:
            node = pool.node_names[0]
            self._local.setdefault(node, {})[key] = None
            self._node_of |= {device.id: node for device in pool.devices}
            self._mark(node)
        return pool.node_names

    def _mark(self, node: str) -> None:
        self._places.pop(node, None)
        self._stale_nodes[node] = None

    # --- use of devices ----------------------------------------------------------------------------------

    def note_use(self, devices: Iterable[DeviceId]) -> list[str]:
        """The use of these devices has changed; returns the nodes of those that are local."""
        nodes: dict[str, None] = {}
        for device in devices:
            node = self._node_of.get(device)
            if node is not None:
                nodes[node] = None
            elif device in self._spanned:
                self.span_version += 1
        self._stale_nodes |= nodes
        return list(nodes)

    def is_spanned(self, device: DeviceId) -> bool:
        return device in self._spanned

    # --- nodes -------------------------------------------------------------------------------------------

    def row_states(self) -> IntArray:
        """The state of every row, which the caller must not write to."""
        nodes = self._nodes
        if self._described != nodes.description_version or len(self._states) > _MAX_STATES:
            self._reread()
        for node in self._stale_nodes:
            row = nodes.row_of.get(node)
            if row is not None:
                self._row_states[row] = self._state_of(self._place(node))
        self._stale_nodes.clear()
        return self._row_states

    @property
    def state_count(self) -> int:
        return len(self._states)

    def _reread(self) -> None:
        nodes = self._nodes
        if len(self._states) > _MAX_STATES:
            self._states.clear()
            self.version += 1
        if self._spanning:
            self._places.clear()
        self._row_states = np.zeros(nodes.alive.size, dtype=np.int64)
        empty = self._state_of(self._place(""))
        self._row_states[:] = empty
        for name in nodes.row_of if self._spanning else self._local:
            row = nodes.row_of.get(name)
            if row is not None:
                self._row_states[row] = self._state_of(self._place(name))
        self._described = nodes.description_version
        self._stale_nodes.clear()

    def offer_at(self, row: int) -> Offer:
        return self.offer(self._place(self._nodes.names[row]))

    def devices_at(self, row: int) -> tuple[DeviceRecord, ...]:
        return self._place(self._nodes.names[row]).devices

    def empty_offer_at(self, row: int) -> Offer:
        """The same if no device were in use."""
        place = self._place(self._nodes.names[row])
        left = {pool.key: pool.counters for pool in place.pools if pool.counters}
        whole = self.offer(place)
        return Offer(place.devices, left, whole.incomplete, whole.invalid)

    def offer_at_all(self, rows: Sequence[int]) -> Offer:
        """The devices that all of these rows reach."""
        if len(rows) == 1:
            return self.offer_at(rows[0])
        places = [self._place(self._nodes.names[row]) for row in rows]
        shared = [d for d in places[0].devices if all(d in other.devices for other in places[1:])]
        whole = self.offer(places[0])
        return Offer(tuple(shared), whole.counters, whole.incomplete, whole.invalid)

    def offer(self, place: _Place) -> Offer:
        usable = [pool for pool in place.pools if pool.is_complete and not pool.error]
        return Offer(
            place.devices,
            {pool.key: self._left(pool) for pool in usable if pool.counters},
            tuple(pool.key for pool in place.pools if not pool.is_complete),
            tuple(pool.key for pool in place.pools if pool.error),
        )

    def has_invalid_pool(self, row: int) -> bool:
        return any(pool.error for pool in self._place(self._nodes.names[row]).pools)

    def invalid_pools(self) -> list[PoolRecord]:
        return [pool for pool in self._unusable.values() if pool.error]

    def unusable_pools_at(self, rows: BoolArray, most: int) -> tuple[str, ...]:
        """Names of incomplete and invalid pools that some of the rows would have devices of."""
        there = (pool for pool in self._unusable.values() if self._is_at(pool, rows))
        return tuple("/".join(pool.key) for pool in islice(there, most))

    def _is_at(self, pool: PoolRecord, rows: BoolArray) -> bool:
        known = (self._nodes.row_of.get(name) for name in pool.node_names)
        return any(row is not None and rows[row] for row in known) or any(
            (self.mask(selector) & rows).any() for selector in pool.selectors
        )

    def _left(self, pool: PoolRecord) -> Counters:
        left = dict(pool.counters)
        for device in pool.devices:
            if device.consumes and device.id in self._in_use:
                for counter_set, name, amount in device.consumes:
                    left[counter_set, name] -= amount
        return left

    def _place(self, node: str) -> _Place:
        known = self._places.get(node)
        if known is None:
            known = self._places[node] = self._gather(node)
        return known

    def _gather(self, node: str) -> _Place:
        local = [self._pools[key] for key in self._local.get(node, ())]
        if len(local) == 1 and not self._spanning:
            (pool,) = local
            return _Place(self._layout((pool.likeness,)), (pool,), pool.devices, pool.ids)
        spanning = [self._pools[key] for key in self._spanning if self._reaches(self._pools[key], node)]
        pools = sorted((*local, *spanning), key=lambda pool: pool.rank)
        devices: list[DeviceRecord] = []
        own: list[DeviceId] = []
        features: list[Hashable] = []
        for pool in pools:
            if pool.key in self._spanning:
                there = [device for device in pool.devices if self._is_reached(device, node)]
                features.append((pool.key, tuple(device.id for device in there)))
                devices += there
            else:
                features.append(pool.likeness)
                devices += pool.devices
                own += pool.ids
        layout = self._layout(tuple(features), is_spanned=bool(spanning))
        return _Place(layout, tuple(pools), tuple(devices), tuple(own))

    def _layout(self, features: Hashable, *, is_spanned: bool = False) -> _Layout:
        known = self._layouts.get(features)
        if known is None:
            known = self._layouts[features] = _Layout(len(self._layouts), is_spanned)
        return known

    def _reaches(self, pool: PoolRecord, node: str) -> bool:
        return node in pool.node_names or any(self._selects(one, node) for one in pool.selectors)

    def _is_reached(self, device: DeviceRecord, node: str) -> bool:
        return device.node_name == node if device.node_name else self._selects(device.selector, node)

    def _selects(self, selector: NodeSelector | None, node: str) -> bool:
        row = self._nodes.row_of.get(node)
        return row is not None and bool(self.mask(selector)[row])

    def mask(self, selector: NodeSelector | None) -> BoolArray:
        """Rows that the selector matches; the caller must not write to it."""
        if self._masked != self._nodes.description_version:
            self._masks.clear()
            self._masked = self._nodes.description_version
        known = self._masks.get(selector)
        if known is None:
            known = self._masks[selector] = self._reach.mask(selector)
        return known

    def _state_of(self, place: _Place) -> int:
        uses = [self._in_use.get(device) for device in place.local]
        used = [
            (position, tuple(sorted(use.consumed.items())) if use.consumed else ())
            for position, use in enumerate(uses if any(uses) else ())
            if use is not None
        ]
        return self._states.setdefault((place.layout.number, *used), len(self._states))
