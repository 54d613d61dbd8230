"""Which volumes an unbound claim may take, the best first.

Claims that ask for the same are offered the same, but for what is kept for one of them; so much is worked out once, and
kept until the cluster shows something new.
"""

from collections.abc import Hashable

from posse.engine.volumes.book import VolumeBook
from posse.engine.volumes.records import ClaimRecord, VolumeRecord, can_hold, is_kept_for, is_open_to


class Offers:
    def __init__(self, book: VolumeBook) -> None:
        self._book = book
        self._open: dict[Hashable, list[VolumeRecord]] = {}
        """Volumes that are open to claims which ask for the same, smallest first."""
        self._reserved: dict[str, list[VolumeRecord]] = {}
        """Volumes of a storage class that name a claim."""
        self._version = -1

    def to(self, claim: ClaimRecord) -> list[VolumeRecord]:
        """The volume that is kept for the claim, if there is one; else all that it could take, smallest first."""
        self._refresh()
        kept = [volume for volume in self._kept(claim) if can_hold(volume, claim)]
        if kept:
            return [min(kept, key=_smallest_first)]
        return [volume for volume in self._open_to(claim) if not self._book.is_promised(volume.name)]

    def _kept(self, claim: ClaimRecord) -> list[VolumeRecord]:
        """By what volumes say of themselves, and by promise. All are of the claim's class, as others are not looked at."""
        reserved = self._reserved.get(claim.storage_class)
        if reserved is None:
            of_class = self._book.volumes_of_class(claim.storage_class)
            reserved = self._reserved[claim.storage_class] = [v for v in of_class if v.claim_key is not None]
        promised = self._book.promised_to(claim.key)
        return [v for v in reserved if is_kept_for(v, claim)] + [v for v in promised if v.claim_key is None]

    def _open_to(self, claim: ClaimRecord) -> list[VolumeRecord]:
        spec = claim.claim.spec
        wish = (
            claim.storage_class,
            claim.size,
            claim.labels,
            spec.access_modes,
            spec.volume_mode,
            spec.volume_attributes_class_name,
        )
        known = self._open.get(wish)
        if known is None:
            of_class = self._book.volumes_of_class(claim.storage_class)
            found = (volume for volume in of_class if is_open_to(volume, claim))
            known = self._open[wish] = sorted(found, key=_smallest_first)
        return known

    def _refresh(self) -> None:
        if self._version != self._book.knowledge_version:
            self._version = self._book.knowledge_version
            self._open.clear()
            self._reserved.clear()


def _smallest_first(volume: VolumeRecord) -> tuple[int, str]:
    return volume.capacity, volume.name
