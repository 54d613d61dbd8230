"""Volumes that a pod's unbound claims would get on each node, all nodes at once.

Claims choose one after the other, the smallest first, and no volume twice. A claim without a match needs
provisioning, which its storage class may not offer. The remaining capacity of a provisioner is ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.node_table import NodeTable
from posse.engine.storage.book import VolumeBook
from posse.engine.storage.reachability import Reach, allowed_topologies
from posse.engine.storage.records import ClaimRecord, VolumeRecord

NOT_CHOSEN = -1
_NO_PROVISIONER = frozenset({"", "kubernetes.io/no-provisioner"})


@dataclass(frozen=True, slots=True)
class ClaimChoice:
    """The volumes chosen for one claim."""

    claim: ClaimRecord
    chosen: IntArray
    """For each row the index of a volume, or NOT_CHOSEN."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of one pod, in the order in which its claims choose."""

    satisfied: BoolArray
    """Rows where every claim gets a volume or can have one provisioned."""
    volumes: tuple[VolumeRecord, ...]
    """The volumes that the indexes refer to."""
    choices: tuple[ClaimChoice, ...]

    def at(self, row: int) -> list[tuple[ClaimRecord, VolumeRecord | None]]:
        """Each claim with its volume; None where one has to be provisioned."""
        found = [(choice.claim, int(choice.chosen[row])) for choice in self.choices]
        return [(claim, None if index == NOT_CHOSEN else self.volumes[index]) for claim, index in found]


class Chooser:
    def __init__(self, nodes: NodeTable, book: VolumeBook, reach: Reach) -> None:
        self._nodes = nodes
        self._book = book
        self._reach = reach

    def choose(self, claims: Sequence[ClaimRecord]) -> Choices:
        satisfied = self._nodes.alive.copy()
        volumes: dict[VolumeRecord, int] = {}
        choices: list[ClaimChoice] = []
        for claim in sorted(claims, key=lambda claim: claim.size):
            chosen = self._choose_for(claim, volumes, choices)
            choices.append(ClaimChoice(claim, chosen))
            unmet = np.equal(chosen, NOT_CHOSEN)
            if (satisfied & unmet).any():
                satisfied &= ~unmet | self._can_be_made(claim)
        return Choices(satisfied, tuple(volumes), tuple(choices))

    def _choose_for(
        self, claim: ClaimRecord, volumes: dict[VolumeRecord, int], before: Sequence[ClaimChoice]
    ) -> IntArray:
        """The first offer that is reachable from the row and not chosen there by an earlier claim.

        Considered volumes get an index, if they have none yet.
        """
        chosen = np.full(self._nodes.alive.size, NOT_CHOSEN, dtype=np.int64)
        if self._book.selected_node(claim):
            return chosen
        missing = len(self._nodes)
        for volume in self._book.offers(claim):
            index = volumes.setdefault(volume, len(volumes))
            rows = self._reach.rows(volume.node_selector)
            rows = rows[np.equal(chosen[rows], NOT_CHOSEN)]
            for choice in before:
                rows = rows[np.not_equal(choice.chosen[rows], index)]
            chosen[rows] = index
            missing -= rows.size
            if not missing:
                break
        return chosen

    def _can_be_made(self, claim: ClaimRecord) -> BoolArray:
        """Rows for which the claim's storage class provisions volumes; only that of a selected node."""
        storage_class = self._book.classes.get(claim.storage_class)
        nowhere = np.zeros(self._nodes.alive.size, dtype=np.bool_)
        if storage_class is None or storage_class.provisioner in _NO_PROVISIONER:
            return nowhere
        there = self._reach.mask(allowed_topologies(storage_class))
        selected = self._book.selected_node(claim)
        if not selected:
            return there
        row = self._nodes.row_of.get(selected)
        if row is not None:
            nowhere[row] = there[row]
        return nowhere
