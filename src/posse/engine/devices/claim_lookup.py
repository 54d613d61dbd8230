"""What claims of a pod without devices ask for, and from where devices of the others can be used."""

import numpy as np

from posse.engine.devices.binding import failure
from posse.engine.devices.claims import ClaimBook
from posse.engine.devices.inventory import Inventory
from posse.engine.devices.needs import DeviceNeeds, NamedClaim, OwnClaim
from posse.engine.devices.promises import HeldDevices
from posse.engine.devices.wants import AllocationError, Offer, Want
from posse.engine.nodes.arrays import BoolArray
from posse.engine.nodes.node_table import NodeTable


class ClaimLookup:
    def __init__(self, nodes: NodeTable, inventory: Inventory, book: ClaimBook, held: HeldDevices) -> None:
        self._nodes = nodes
        self._inventory = inventory
        self._book = book
        self._held = held

    def is_waiting(self, claim: OwnClaim | NamedClaim) -> bool:
        """Whether the claim has no devices yet."""
        if isinstance(claim, OwnClaim):
            return True
        record = self._book.claims.get(claim.key)
        return claim.key not in self._held.promises and (record is None or record.allocation is None)

    def wants(self, needs: DeviceNeeds, offer: Offer) -> list[Want]:
        """The claims of the pod without devices."""
        return [self.want(claim, offer) for claim in needs.claims if self.is_waiting(claim)]

    def want(self, claim: OwnClaim | NamedClaim, offer: Offer) -> Want:
        if isinstance(claim, OwnClaim):
            return Want(claim.entry, claim.shape, offer, claim.position)
        record = self._book.claims.get(claim.key)
        if record is None:
            raise AllocationError(str(claim.key), ": not found")
        shape = self._book.shape(record.claim.spec)
        if isinstance(shape, str):
            raise AllocationError(str(claim.key), f": {shape}")
        return Want(str(claim.key), shape, offer)

    def reachable(self, needs: DeviceNeeds) -> BoolArray:
        """Rows from which the devices of claims can be used that have devices."""
        there = self._nodes.alive.copy()
        for claim in needs.claims:
            if isinstance(claim, NamedClaim):
                there &= self.reaches(claim)
        return there

    def reaches(self, claim: NamedClaim) -> BoolArray:
        """Rows from which the devices of the claim can be used; all of them, if it has none."""
        record = self._book.claims.get(claim.key)
        if record is not None and record.allocation is not None:
            return (
                np.zeros_like(self._nodes.alive) if failure(record) else self._inventory.mask(record.selector)
            )
        promise = self._held.promises.get(claim.key)
        if promise is None:
            return self._nodes.alive
        there = self._nodes.alive.copy()
        for one in promise.grants:
            there &= self._usable_from(one.device.node_name, one.device.binds_to_node, promise.node)
            there &= self._inventory.mask(one.device.selector)
        return there

    def _usable_from(self, node_name: str, binds: bool, node: str) -> BoolArray:
        if not (node_name or binds):
            return self._nodes.alive
        only = np.zeros_like(self._nodes.alive)
        row = self._nodes.row_of.get(node)
        if row is not None:
            only[row] = True
        return only
