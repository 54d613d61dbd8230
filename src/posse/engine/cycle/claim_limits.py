"""A claim is reserved for a limited number of pods and groups: bindings beyond that are taken back."""

from collections.abc import Sequence

import msgspec

from posse.engine.devices.claims import MAX_CONSUMERS, ClaimBook
from posse.engine.keys import ClaimKey
from posse.model.resource_claim import ResourceClaimConsumerReference


class ReservedClaim(msgspec.Struct, frozen=True, gc=False):
    """A claim of a pod, and the pod or group that it is reserved for."""

    key: ClaimKey | None
    """None if there is no claim, though the pod got a node."""
    consumer: ResourceClaimConsumerReference


class ClaimLimits:
    """The reservations of one round, beside those that claims have."""

    def __init__(self, book: ClaimBook) -> None:
        self._book = book
        self._reserved: dict[ClaimKey, dict[str, None]] = {}

    def beyond(self, uses: Sequence[Sequence[ReservedClaim]]) -> dict[int, ClaimKey]:
        """Of these pods, those for which a claim has no reservation left: number of the pod, and the claim.

        All others get their reservations.
        """
        full = [(number, self._reserve(of_pod)) for number, of_pod in enumerate(uses)]
        return {number: key for number, key in full if key is not None}

    def _reserve(self, uses: Sequence[ReservedClaim]) -> ClaimKey | None:
        """A claim without a reservation left for the pod; None if the pod got all its reservations."""
        wanted = [(use.key, use.consumer.uid, self._of(use.key)) for use in uses if use.key is not None]
        for key, uid, reserved in wanted:
            if len(reserved) >= MAX_CONSUMERS and uid not in reserved:
                return key
        for _, uid, reserved in wanted:
            reserved[uid] = None
        return None

    def _of(self, key: ClaimKey) -> dict[str, None]:
        known = self._reserved.get(key)
        if known is None:
            known = self._reserved[key] = dict.fromkeys(self._uids(key))
        return known

    def _uids(self, key: ClaimKey) -> list[str]:
        record = self._book.claims.get(key)
        if record is None or self._book.is_released(record):
            return []
        return [one.uid for one in record.consumers]
