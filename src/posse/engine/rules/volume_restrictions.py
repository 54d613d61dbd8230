"""Storage that cannot be shared: claims for one pod only, and disks that one node can mount once.

A pod that names a claim which does not exist is turned away here already.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.storage.claims import ClaimUse, VolumeNeeds
from posse.engine.storage.storage import Storage

_DISK_TAKEN = "node(s) had no available disk"
_CLAIM_TAKEN = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
    "already in-use by another pod"
)


class ClaimsExist:
    name = "VolumeRestrictions"

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

    def hopeless(self, rows: Rows) -> BoolArray:
        """Whoever holds the claim or the disk could be evicted."""
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
