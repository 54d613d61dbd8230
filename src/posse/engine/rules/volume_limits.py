"""Shared and limited volumes: claims for one pod, exclusive disks, and attach limits.

A pod with a missing claim is refused. A node attaches a limited number of volumes per storage driver; a
volume counts once, however many pods use it.
"""

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from posse.engine.keys import ClaimKey
from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.storage.book import ClaimUse, VolumeNeeds
from posse.engine.storage.storage import Storage

_DISK_TAKEN = "node(s) had no available disk"
_CLAIM_TAKEN = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)


class ClaimsExist:
    name = "VolumeRestrictions"
    applies_to = attrgetter("pod_class.volumes")

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "ExistenceCheck | None":
        needs = scheduling_class.pod_class.volumes
        named = [use for use in needs.claims if use.owner is None] if needs is not None else []
        return ExistenceCheck(named, context.storage) if named else None


class ExistenceCheck:
    def __init__(self, uses: Sequence[ClaimUse], storage: Storage) -> None:
        self._uses = uses
        self._book = storage.book

    def objection(self) -> str:
        for use in self._uses:
            if use.key in self._book.unreadable_claims:
                return f'persistentvolumeclaim "{use.key.name}": {self._book.unreadable_claims[use.key]}'
            if use.key not in self._book.claims:
                return f'persistentvolumeclaim "{use.key.name}" not found'
        return ""


class VolumeRestrictions:
    name = "VolumeRestrictions"
    applies_to = attrgetter("pod_class.volumes")

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "SharingFilter | None":
        needs = scheduling_class.pod_class.volumes
        return SharingFilter(needs, context) if needs is not None else None


class SharingFilter:
    def __init__(self, needs: VolumeNeeds, context: RuleContext) -> None:
        self.is_row_local = not needs.claims
        self._needs = needs
        self._nodes = context.nodes
        self._storage = context.storage

    def passes(self, rows: Rows) -> BoolArray:
        if self._claim_taken():
            return np.zeros(self._nodes.alive[rows].shape, dtype=np.bool_)
        return ~self._disk_taken(rows)

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        disk_taken = self._disk_taken(rows)
        return ((_DISK_TAKEN, disk_taken), (_CLAIM_TAKEN, ~disk_taken & self._claim_taken()))

    def unresolvable(self, rows: Rows) -> BoolArray:
        """The pod that holds the claim or the disk could be evicted."""
        return np.zeros(self._nodes.alive[rows].shape, dtype=np.bool_)

    def _disk_taken(self, rows: Rows) -> BoolArray:
        taken = np.zeros(self._nodes.alive.size, dtype=np.bool_)
        for disk in self._needs.disks:
            for held, node in self._storage.usage.holders(disk):
                row = self._nodes.row_of.get(node)
                if row is not None and held.clashes(disk):
                    taken[row] = True
        return taken[rows]

    def _claim_taken(self) -> bool:
        return any(
            use.owner is None
            and self._storage.book.is_for_one_pod(use.key)
            and bool(self._storage.usage.nodes_of(use.key))
            for use in self._needs.claims
        )


_FULL = "node(s) exceed max volume count"


class VolumeLimits:
    name = "NodeVolumeLimits"
    applies_to = attrgetter("pod_class.volumes")

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "LimitsFilter | None":
        needs = scheduling_class.pod_class.volumes
        if needs is None or not needs.claims:
            return None
        return LimitsFilter([use.key for use in needs.claims], context)


class LimitsFilter:
    is_row_local = False
    """The volume of a claim can change while pods stay where they are."""

    def __init__(self, keys: Sequence[ClaimKey], context: RuleContext) -> None:
        self._keys = keys
        self._nodes = context.nodes
        self._storage = context.storage

    def passes(self, rows: Rows) -> BoolArray:
        refused: BoolArray = np.logical_or.reduce([holds for _, holds in self.refusals(rows)])
        return ~refused

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        lacking = self._lacking()
        full = self._full()
        for _, lacks in lacking:
            full &= ~lacks
        return [
            *((f"{name} CSI driver is not installed on the node", lacks[rows]) for name, lacks in lacking),
            (_FULL, full[rows]),
        ]

    def unresolvable(self, rows: Rows) -> BoolArray:
        return np.zeros(self._nodes.alive[rows].shape, dtype=np.bool_)

    def _drivers(self) -> Counter[str]:
        """How many volumes of each driver the pod uses."""
        return Counter(driver for driver, _ in sorted(self._storage.usage.csi_volumes(self._keys)))

    def _lacking(self) -> list[tuple[str, BoolArray]]:
        """Required drivers, each with the rows where it is the first that is missing."""
        found: list[tuple[str, BoolArray]] = []
        undecided = self._nodes.alive.copy()
        for driver in self._drivers():
            known = self._storage.book.csi_drivers.get(driver)
            if known is not None and known.spec.prevent_pod_scheduling_if_missing:
                lacks = undecided & ~self._storage.limits.is_installed(driver)
                undecided &= ~lacks
                found.append((driver, lacks))
        return found

    def _full(self) -> BoolArray:
        full = np.zeros(self._nodes.alive.size, dtype=np.bool_)
        rooms = {driver: self._storage.limits.room(driver) for driver in self._drivers()}
        for driver, count in self._drivers().items():
            full |= np.less(rooms[driver], count)
        for row in np.flatnonzero(full).tolist():
            full[row] = any(rooms[driver][row] < count for driver, count in self._new_on(row).items())
        return full

    def _new_on(self, row: int) -> Counter[str]:
        """Per driver, the pod's volumes that are not attached there already."""
        attached = self._storage.usage.attached(self._nodes.names[row])
        volumes = self._storage.usage.csi_volumes(self._keys)
        return Counter(volume[0] for volume in volumes if volume not in attached)
