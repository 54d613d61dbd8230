"""Claims of devices: they are allocated and reserved before a pod that uses them is bound, and released if
it did not start.

Patches name what they add, not the whole object, so that pods which share a claim never conflict. The API
server refuses another allocation than the one that the claim has.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from posse.engine.decisions import ClaimAllocation, ExtendedResourceClaim, ReleaseClaim
from posse.engine.events import ReleaseFailed
from posse.engine.keys import ClaimKey
from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND, ApiError
from posse.kinds.registry import POD, RESOURCE_CLAIM
from posse.model.resource_claim import CLAIM_FINALIZER, EXTENDED_RESOURCE_CLAIM_ANNOTATION
from posse.transport.patches import STRATEGIC_MERGE_PATCH, Patch
from posse.writes.object_writes import ObjectCreate, ObjectDelete, ObjectPatch, ObjectWrite, patch_status


@dataclass(frozen=True, slots=True)
class ClaimWrites:
    """What was written before a failure stays: the engine sees it, and uses or releases it."""

    decision: ClaimAllocation

    def writes(self, stamp: str) -> Sequence[ObjectWrite]:
        decision = self.decision
        writes: list[ObjectWrite] = []
        if decision.created is not None:
            writes.append(_create(decision.claim, decision.created))
        if not decision.allocation.allocation_timestamp:
            writes.append(_patch(decision, {"finalizers": [CLAIM_FINALIZER]}))
        writes.append(_allocate(decision, stamp))
        if decision.created is not None:
            writes.append(_name_in_status(decision.claim, decision.created))
        return writes

    def note(self) -> None:
        """Claims have no event of their own."""


@dataclass(frozen=True, slots=True)
class ReleaseWrites:
    """The finalizer stays: the controller of claims removes it when the claim is deleted."""

    decision: ReleaseClaim

    def writes(self, _stamp: str) -> Sequence[ObjectWrite]:
        decision = self.decision
        status: dict[str, Any] = {
            "reservedFor": [{"$patch": "delete", "uid": consumer.uid} for consumer in decision.consumers]
        }
        if decision.deallocates:
            status = {"allocation": None, "reservedFor": None}
        metadata = {"uid": decision.uid, "resourceVersion": decision.version}
        patch = Patch(STRATEGIC_MERGE_PATCH, {"metadata": metadata, "status": status})
        place = decision.claim.namespace, decision.claim.name
        released = ObjectPatch(RESOURCE_CLAIM, *place, patch, "status")
        return (
            [released, ObjectDelete(RESOURCE_CLAIM, *place, decision.uid)] if decision.deletes else [released]
        )

    def failed(self, error: ApiError) -> ReleaseFailed | None:
        """A claim that is gone, or has changed meanwhile, is judged again when that is seen."""
        return None if error.code in {NOT_FOUND, CONFLICT} else ReleaseFailed(self.decision.claim)

    def note(self) -> None:
        """Claims have no event of their own."""


def merged_claims(allocations: Iterable[ClaimAllocation]) -> list[ClaimWrites]:
    """One write for each claim, however many pods share it."""
    merged: dict[ClaimKey, ClaimAllocation] = {}
    for each in allocations:
        known = merged.setdefault(each.claim, each)
        consumers = tuple(dict.fromkeys((*known.consumers, *each.consumers)))
        merged[each.claim] = msgspec.structs.replace(known, consumers=consumers)
    return [ClaimWrites(each) for each in merged.values()]


def _allocate(decision: ClaimAllocation, stamp: str) -> ObjectPatch:
    """If the claim has this allocation since another time, only consumers are added."""
    consumers, allocation = _as_json(decision.consumers), _as_json(decision.allocation)
    known = {"allocation": allocation, "reservedFor": consumers}
    if decision.allocation.allocation_timestamp:
        return _patch_status(decision, known)
    allocated = {"allocation": allocation | {"allocationTimestamp": stamp}, "reservedFor": consumers}
    return replace(
        _patch_status(decision, allocated),
        wanted={"status": {"allocation": allocation}},
        instead=_patch_status(decision, known),
    )


def _as_json(part: Any) -> Any:
    """With lists where structs have tuples: an API server in the same process takes the object as it is."""
    return msgspec.json.decode(msgspec.json.encode(part))


def _patch_status(decision: ClaimAllocation, status: dict[str, Any]) -> ObjectPatch:
    claim = decision.claim
    patch = patch_status(RESOURCE_CLAIM, claim.namespace, claim.name, decision.uid, status)
    return replace(patch, finalizer=CLAIM_FINALIZER)


def _patch(decision: ClaimAllocation, metadata: dict[str, Any]) -> ObjectPatch:
    body = {"metadata": metadata | ({"uid": decision.uid} if decision.uid else {})}
    patch = Patch(STRATEGIC_MERGE_PATCH, body)
    return ObjectPatch(RESOURCE_CLAIM, decision.claim.namespace, decision.claim.name, patch)


def _create(claim: ClaimKey, created: ExtendedResourceClaim) -> ObjectCreate:
    """A claim that is there already is one of an earlier attempt, if it has the same owner."""
    owner = {
        "apiVersion": POD.api_version,
        "kind": POD.name,
        "name": created.pod.name,
        "uid": created.pod.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {
        "namespace": claim.namespace,
        "name": claim.name,
        "annotations": {EXTENDED_RESOURCE_CLAIM_ANNOTATION: "true"},
        "ownerReferences": [owner],
    }
    obj = {
        "apiVersion": RESOURCE_CLAIM.api_version,
        "kind": RESOURCE_CLAIM.name,
        "metadata": metadata,
        "spec": _as_json(created.spec),
    }
    wanted = {"metadata": {"ownerReferences": [owner]}}
    return ObjectCreate(RESOURCE_CLAIM, claim.namespace, claim.name, obj, wanted)


def _name_in_status(claim: ClaimKey, created: ExtendedResourceClaim) -> ObjectPatch:
    named = {"resourceClaimName": claim.name, "requestMappings": _as_json(created.mappings)}
    status = {"extendedResourceClaimStatus": named}
    return patch_status(POD, created.pod.namespace, created.pod.name, created.pod.uid, status)
