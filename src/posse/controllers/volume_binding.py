"""Binds claims to volumes, as the volume controller of Kubernetes does: both sides name each other, then both say Bound.

Claims that wait for a pod are bound once the scheduler has written them into a volume. Volumes are never made or emptied:
there is no provisioner, and a volume that has served its claim stays as it is, Released.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from posse.engine.events import StorageObject
from posse.engine.keys import ClaimKey
from posse.engine.storage.book import VolumeBook
from posse.engine.storage.records import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    ClaimRecord,
    VolumeRecord,
    can_hold,
    is_kept_for,
)
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM


class VolumePatch(NamedTuple):
    """A merge patch for an object as it was seen; it names uid and resourceVersion."""

    kind: Kind
    namespace: str
    name: str
    patch: Json
    subresource: str = ""


class VolumeBinder:
    """Objects seen go in; what is to be written comes out, one step of a binding at a time."""

    def __init__(self) -> None:
        self._book = VolumeBook()

    def see(self, obj: StorageObject) -> None:
        self._book.put(obj)

    def lose(self, obj: StorageObject) -> None:
        self._book.drop(obj)

    def writes(self) -> list[VolumePatch]:
        """By what has been seen so far. Each write shows as a change, which may call for the next."""
        kept = {volume.claim_key: volume for volume in self._book.volumes.values()}
        taken: set[str] = set()
        wanted: list[VolumePatch] = []
        for claim in self._book.claims.values():
            volume = self._volume_for(claim, kept.get(claim.key), taken)
            if volume is not None and not claim.claim.metadata.deletion_timestamp:
                taken.add(volume.name)
                wanted += _next_step(claim, volume)
        return wanted + [write for volume in self._book.volumes.values() for write in self._phase(volume)]

    def _volume_for(
        self, claim: ClaimRecord, kept: VolumeRecord | None, taken: Collection[str]
    ) -> VolumeRecord | None:
        """Which volume the claim has or shall have; those that others take in this round are `taken`."""
        if claim.claim.spec.volume_name:
            volume = self._book.volume_of(claim)
            is_free = volume is not None and volume.volume.spec.claim_ref is None
            return volume if volume is not None and (is_free or is_kept_for(volume, claim)) else None
        if kept is not None and is_kept_for(kept, claim) and can_hold(kept, claim):
            return kept
        if self._book.is_delayed(claim):
            return None
        return next((volume for volume in self._book.offers(claim) if volume.name not in taken), None)

    def _phase(self, volume: VolumeRecord) -> Iterator[VolumePatch]:
        phase = self._phase_of(volume)
        if phase != volume.volume.status.phase and not volume.volume.metadata.deletion_timestamp:
            patch = {"metadata": _identity(volume), "status": {"phase": phase}}
            yield VolumePatch(PERSISTENT_VOLUME, "", volume.name, patch, "status")

    def _phase_of(self, volume: VolumeRecord) -> str:
        if volume.claim_key is None or not _names_uid(volume):
            return "Available"
        claim = self._book.claims.get(volume.claim_key)
        if claim is None or not is_kept_for(volume, claim):
            return "Released"
        return "Bound" if claim.claim.spec.volume_name == volume.name else volume.volume.status.phase


def _next_step(claim: ClaimRecord, volume: VolumeRecord) -> Iterator[VolumePatch]:
    if not is_kept_for(volume, claim) or not _names_uid(volume):
        yield _keep(volume, claim)
    elif not claim.is_bound:
        yield _bind(claim, volume)
    elif claim.claim.status.phase != "Bound":
        yield _claim_status(claim, volume)


def _names_uid(volume: VolumeRecord) -> bool:
    """A reference without a uid only reserves the volume for whoever comes under that name."""
    reference = volume.volume.spec.claim_ref
    return reference is not None and bool(reference.uid)


def _keep(volume: VolumeRecord, claim: ClaimRecord) -> VolumePatch:
    metadata = _identity(volume)
    if volume.claim_key is None:
        metadata["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
    reference = {
        "apiVersion": PERSISTENT_VOLUME_CLAIM.api_version,
        "kind": PERSISTENT_VOLUME_CLAIM.name,
        "namespace": claim.key.namespace,
        "name": claim.key.name,
        "uid": claim.claim.metadata.uid,
    }
    return VolumePatch(
        PERSISTENT_VOLUME, "", volume.name, {"metadata": metadata, "spec": {"claimRef": reference}}
    )


def _bind(claim: ClaimRecord, volume: VolumeRecord) -> VolumePatch:
    annotations = {BIND_COMPLETED: "yes"}
    if not claim.claim.spec.volume_name:
        annotations[BOUND_BY_CONTROLLER] = "yes"
    patch = {
        "metadata": _identity(claim) | {"annotations": annotations},
        "spec": {"volumeName": volume.name},
    }
    return VolumePatch(PERSISTENT_VOLUME_CLAIM, *_place(claim.key), patch)


def _claim_status(claim: ClaimRecord, volume: VolumeRecord) -> VolumePatch:
    status = {
        "phase": "Bound",
        "accessModes": list(volume.volume.spec.access_modes),
        "capacity": volume.volume.spec.capacity,
    }
    patch = {"metadata": _identity(claim), "status": status}
    return VolumePatch(PERSISTENT_VOLUME_CLAIM, *_place(claim.key), patch, "status")


def _place(key: ClaimKey) -> tuple[str, str]:
    return key.namespace, key.name


def _identity(record: ClaimRecord | VolumeRecord) -> Json:
    obj = record.claim if isinstance(record, ClaimRecord) else record.volume
    return {"uid": obj.metadata.uid, "resourceVersion": obj.metadata.resource_version}
