"""Users of each claim, and disks and volumes in use on each node. Counts attached pods only.

Volumes that a node keeps attached after their pods are gone are unknown here.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar

from posse.engine.keys import ClaimKey
from posse.engine.storage.book import Disk, VolumeBook, VolumeNeeds

CsiVolume = tuple[str, str]
"""Driver and handle: what a node attaches once, however many pods use it."""

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)


class VolumeUsage:
    def __init__(self, book: VolumeBook) -> None:
        self._book = book
        self._nodes_of: dict[ClaimKey, Counter[str]] = {}
        self._claims_on: dict[str, Counter[ClaimKey]] = {}
        self._holders: dict[tuple[str, ...], Counter[tuple[Disk, str]]] = {}
        """Equal disks, whatever their use, with their nodes."""
        self._changed_nodes: dict[str, None] = {}

    def add(self, needs: VolumeNeeds, node: str) -> None:
        """Count one more pod on the node. Undone by `remove`."""
        self._count(needs, node, 1)

    def remove(self, needs: VolumeNeeds, node: str) -> None:
        self._count(needs, node, -1)

    def nodes_of(self, key: ClaimKey) -> Collection[str]:
        """Nodes with pods that use the claim."""
        return self._nodes_of.get(key, ())

    def holders(self, disk: Disk) -> Iterable[tuple[Disk, str]]:
        """Uses of the disk, or of an equal one, with the node of each."""
        return self._holders.get((disk.kind, *disk.identity), ())

    def nodes(self) -> Iterable[str]:
        """Nodes with pods that use claims."""
        return self._claims_on

    def attached(self, node: str) -> list[CsiVolume]:
        return self.csi_volumes(self._claims_on.get(node, ()))

    def csi_volumes(self, keys: Iterable[ClaimKey]) -> list[CsiVolume]:
        """Volumes that a node attaches for these claims; unknown or driverless claims add none."""
        found = (self._csi_volume(key) for key in keys)
        return list(dict.fromkeys(volume for volume in found if volume is not None))

    def take_changed_nodes(self) -> Iterable[str]:
        """Nodes whose pods with claims have changed since the last call."""
        taken, self._changed_nodes = self._changed_nodes, {}
        return taken

    def _csi_volume(self, key: ClaimKey) -> CsiVolume | None:
        claim = self._book.claims.get(key)
        if claim is None:
            return None
        volume = self._book.volume_of(claim)
        if volume is not None:
            driver, handle = volume.csi
        else:
            # It will be some volume of the class's driver; until it exists the claim represents it.
            storage_class = self._book.classes.get(claim.storage_class)
            driver, handle = (storage_class.provisioner if storage_class is not None else ""), f"claim {key}"
        return (driver, handle) if driver and handle else None

    def _count(self, needs: VolumeNeeds, node: str, sign: int) -> None:
        for use in needs.claims:
            _add(self._nodes_of, use.key, node, sign)
            _add(self._claims_on, node, use.key, sign)
            self._changed_nodes[node] = None
        for disk in needs.disks:
            _add(self._holders, (disk.kind, *disk.identity), (disk, node), sign)


def _add(counters: dict[Key, Counter[Item]], key: Key, item: Item, sign: int) -> None:
    """Counts of zero are removed."""
    counter = counters.setdefault(key, Counter())
    counter[item] += sign
    if not counter[item]:
        del counter[item]
    if not counter:
        del counters[key]
