"""How many more volumes of a storage driver each node can attach, and where the driver runs at all.

Columns exist for requested drivers, and are updated node by node while only pods come and go.
"""

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.node_table import NodeTable
from posse.engine.storage.book import VolumeBook
from posse.engine.storage.usage import VolumeUsage

UNLIMITED = np.iinfo(np.int64).max // 2


class AttachLimits:
    def __init__(self, nodes: NodeTable, book: VolumeBook, usage: VolumeUsage) -> None:
        self._nodes = nodes
        self._book = book
        self._usage = usage
        self._limits: dict[str, IntArray] = {}
        self._counts: dict[str, IntArray] = {}
        """Volumes attached, by driver and row."""
        self._versions = (-1, -1)
        """Versions of storage and nodes when the columns were made."""

    def room(self, driver: str) -> IntArray:
        """Volumes that each node can still attach; read-only."""
        self._refresh()
        if driver not in self._limits:
            self._limits[driver] = self._read_limits(driver)
            self._counts[driver] = np.zeros(self._nodes.alive.size, dtype=np.int64)
            for node in self._usage.nodes():
                self._recount(driver, node)
        return self._limits[driver] - self._counts[driver]

    def is_installed(self, driver: str) -> BoolArray:
        installed = np.zeros(self._nodes.alive.size, dtype=np.bool_)
        for name, csi_node in self._book.csi_nodes.items():
            row = self._nodes.row_of.get(name)
            if row is not None:
                installed[row] = any(there.name == driver for there in csi_node.spec.drivers)
        return installed

    def _refresh(self) -> None:
        versions = (self._book.knowledge_version, self._nodes.description_version)
        changed = self._usage.take_changed_nodes()
        if self._versions != versions:
            self._versions = versions
            self._limits.clear()
            self._counts.clear()
        for driver in self._counts:
            for node in changed:
                self._recount(driver, node)

    def _read_limits(self, driver: str) -> IntArray:
        limits = np.full(self._nodes.alive.size, UNLIMITED, dtype=np.int64)
        for name, csi_node in self._book.csi_nodes.items():
            row = self._nodes.row_of.get(name)
            for there in csi_node.spec.drivers if row is not None else ():
                if there.name == driver and there.allocatable is not None:
                    count = there.allocatable.count
                    limits[row] = UNLIMITED if count is None else count
        return limits

    def _recount(self, driver: str, node: str) -> None:
        row = self._nodes.row_of.get(node)
        if row is not None:
            attached = self._usage.attached(node)
            self._counts[driver][row] = sum(1 for volume_driver, _ in attached if volume_driver == driver)
