"""Claims of devices in virtual time: written as decided at once, and freed when their pods are gone.

The claims of a run come and go with it. Others stay, and are given back when no pod uses them any more.
Drivers take no time.
"""

from collections.abc import Callable, Collection, Iterable
from itertools import count

from msgspec.structs import replace

from posse.engine.decisions import ClaimAllocation, ReleaseClaim
from posse.engine.events import ClaimWritten, EngineEvent, Observed, Vanished
from posse.engine.keys import ClaimKey
from posse.model.resource_claim import ResourceClaim, ResourceClaimStatus
from posse.model.timestamps import format_timestamp

UNALLOCATED = ResourceClaimStatus()


class SimulatedClaims:
    def __init__(self, absorb: Callable[[EngineEvent], object]) -> None:
        self._absorb = absorb
        self._claims: dict[ClaimKey, ResourceClaim] = {}
        self._versions = count(1)

    def add(self, claims: Iterable[ResourceClaim]) -> None:
        for claim in claims:
            self._put(replace(claim, status=UNALLOCATED))

    def remove(self, claims: Iterable[ResourceClaim]) -> None:
        for claim in claims:
            gone = self._claims.pop(_key(claim), None)
            if gone is not None:
                self._absorb(Vanished(gone))

    def write(self, decision: ClaimAllocation, now: float) -> None:
        """Claims that would be made for extended resources are not simulated."""
        claim = self._claims.get(decision.claim)
        if claim is None:
            self._absorb(ClaimWritten(decision.claim, None))
            return
        allocation = decision.allocation
        if not allocation.allocation_timestamp:
            allocation = replace(allocation, allocation_timestamp=format_timestamp(now))
        consumers = tuple(dict.fromkeys((*claim.status.reserved_for, *decision.consumers)))
        status = replace(claim.status, allocation=allocation, reserved_for=consumers)
        self._absorb(ClaimWritten(decision.claim, self._put(replace(claim, status=status))))

    def release(self, decision: ReleaseClaim) -> None:
        claim = self._claims.get(decision.claim)
        if claim is not None:
            self._give_back(claim, {one.uid for one in decision.consumers})

    def leave(self, uids: Collection[str]) -> None:
        """These pods and groups are gone."""
        for claim in list(self._claims.values()):
            if any(one.uid in uids for one in claim.status.reserved_for):
                self._give_back(claim, uids)

    def _give_back(self, claim: ResourceClaim, uids: Collection[str]) -> None:
        left = tuple(one for one in claim.status.reserved_for if one.uid not in uids)
        status = replace(claim.status, reserved_for=left) if left else UNALLOCATED
        self._put(replace(claim, status=status))

    def _put(self, claim: ResourceClaim) -> ResourceClaim:
        version = str(next(self._versions))
        self._claims[_key(claim)] = renewed = replace(
            claim, metadata=replace(claim.metadata, resource_version=version)
        )
        self._absorb(Observed(renewed))
        return renewed


def _key(claim: ResourceClaim) -> ClaimKey:
    return ClaimKey(claim.metadata.namespace, claim.metadata.name)
