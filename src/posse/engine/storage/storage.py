"""The storage side of the cluster state: objects, usage, and the volumes a pod would get on each node.

Pods without claims and disks never come here.
"""

from collections.abc import Iterable

from posse.engine.decisions import KeepVolume, ProvisionVolume, VolumeStep
from posse.engine.nodes.node_table import NodeTable
from posse.engine.storage.attach_limits import AttachLimits
from posse.engine.storage.book import ClaimUse, VolumeBook, VolumeNeeds
from posse.engine.storage.matching import Choices, Chooser
from posse.engine.storage.reachability import Reach
from posse.engine.storage.records import ClaimRecord, VolumeRecord
from posse.engine.storage.usage import VolumeUsage


class Storage:
    def __init__(self, nodes: NodeTable) -> None:
        self.book = VolumeBook()
        self.usage = VolumeUsage(self.book)
        self.limits = AttachLimits(nodes, self.book, self.usage)
        self.reach = Reach(nodes)
        self._nodes = nodes
        self._chooser = Chooser(nodes, self.book, self.reach)
        self._last: tuple[VolumeNeeds, tuple[int, int, int], Choices] | None = None
        """The last result of `choices` with its inputs: filter, score and placement ask the same in a row."""

    def bound_claims(self, needs: VolumeNeeds) -> list[ClaimRecord]:
        return [claim for claim in self._known(needs.claims) if claim.is_bound]

    def choices(self, needs: VolumeNeeds) -> Choices:
        """The volumes that the unbound claims of the pod would get on each node."""
        book = self.book
        versions = (book.knowledge_version, book.promise_version, self._nodes.description_version)
        if self._last is None or self._last[:2] != (needs, versions):
            unbound = [c for c in self._known(needs.claims) if not c.is_bound and book.is_delayed(c)]
            self._last = (needs, versions, self._chooser.choose(unbound))
        return self._last[2]

    def steps(self, needs: VolumeNeeds, row: int) -> tuple[VolumeStep, ...]:
        """Steps for the pod's claims if it goes to that row; empty if they cannot help."""
        choices, node = self.choices(needs), self._nodes.names[row]
        if not choices.satisfied[row]:
            return ()
        return tuple(_step(claim, volume, node) for claim, volume in choices.at(row))

    def take(self, uid: str, needs: VolumeNeeds, steps: tuple[VolumeStep, ...], node: str) -> None:
        """The pod is on the node, with these promises. Undone by `give_back`."""
        self.usage.add(needs, node)
        if steps:
            self.book.promise(uid, steps)

    def give_back(self, uid: str, needs: VolumeNeeds, steps: tuple[VolumeStep, ...], node: str) -> None:
        self.usage.remove(needs, node)
        if steps:
            self.book.withdraw(uid, steps)

    def _known(self, uses: Iterable[ClaimUse]) -> list[ClaimRecord]:
        found = (self.book.claims.get(use.key) for use in uses)
        return [claim for claim in found if claim is not None]


def _step(claim: ClaimRecord, volume: VolumeRecord | None, node: str) -> VolumeStep:
    uid = claim.claim.metadata.uid
    if volume is None:
        return ProvisionVolume(claim.key, uid, node)
    by_us = volume.volume.spec.claim_ref is None
    version = volume.volume.metadata.resource_version
    return KeepVolume(claim.key, uid, volume.name, version, by_us)
