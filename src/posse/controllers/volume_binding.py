"""Binds claims to volumes, as the controller of Kubernetes does: both name each other, then both become
Bound.

Claims that wait for a pod are bound once the scheduler has written them into a volume, or a volume was made
for them. A volume whose claim is gone stays Released.
"""

from collections.abc import Collection, Iterator, Mapping

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Plan
from posse.engine.events import StorageObject
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
from posse.kinds.registry import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS
from posse.model.decoding import decode
from posse.model.volume import PersistentVolume, PersistentVolumeClaim, StorageClass

STRUCTS: Mapping[Kind, type[StorageObject]] = {
    STORAGE_CLASS: StorageClass,
    PERSISTENT_VOLUME: PersistentVolume,
    PERSISTENT_VOLUME_CLAIM: PersistentVolumeClaim,
}
# Matching claims with volumes is one problem, so all of them together are one subject.
ALL_VOLUMES = ""


class VolumeBinder(Reconciler):
    """Plans one step of every binding at a time."""

    reporter = "persistentvolume-binder"
    kinds = tuple(STRUCTS)

    def __init__(self) -> None:
        self._book = VolumeBook()
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        self._book.put(decode(STRUCTS[kind], obj))
        self.touched.add(ALL_VOLUMES)

    def lose(self, kind: Kind, obj: Json) -> None:
        self._book.drop(decode(STRUCTS[kind], obj))
        self.touched.add(ALL_VOLUMES)

    def plan(self, _key: str, _now: float) -> Plan:
        """Each write shows as a change, which touches the volumes again."""
        result = Plan()
        result.then(*self._writes())
        return result

    def _writes(self) -> list[Amend]:
        kept = {volume.claim_key: volume for volume in self._book.volumes.values()}
        taken: set[str] = set()
        wanted: list[Amend] = []
        for claim in self._book.claims.values():
            volume = self._volume_for(claim, kept.get(claim.key), taken)
            if volume is not None and not claim.claim.metadata.deletion_timestamp:
                taken.add(volume.name)
                wanted += _next_step(claim, volume)
        return wanted + [write for volume in self._book.volumes.values() for write in self._phase(volume)]

    def _volume_for(
        self, claim: ClaimRecord, kept: VolumeRecord | None, taken: Collection[str]
    ) -> VolumeRecord | None:
        """Return the volume that the claim has or gets; other claims get those `taken` in this plan."""
        if claim.claim.spec.volume_name:
            volume = self._book.volume_of(claim)
            is_free = volume is not None and volume.volume.spec.claim_ref is None
            return volume if volume is not None and (is_free or is_kept_for(volume, claim)) else None
        if kept is not None and is_kept_for(kept, claim) and can_hold(kept, claim):
            return kept
        if self._book.is_delayed(claim):
            return None
        return next((volume for volume in self._book.offers(claim) if volume.name not in taken), None)

    def _phase(self, volume: VolumeRecord) -> Iterator[Amend]:
        phase = self._phase_of(volume)
        if phase != volume.volume.status.phase and not volume.volume.metadata.deletion_timestamp:
            patch = {"metadata": _identity(volume), "status": {"phase": phase}}
            yield _amend(volume, patch, "status")

    def _phase_of(self, volume: VolumeRecord) -> str:
        if volume.claim_key is None or not _names_uid(volume):
            return "Available"
        claim = self._book.claims.get(volume.claim_key)
        if claim is None or not is_kept_for(volume, claim):
            return "Released"
        return "Bound" if claim.claim.spec.volume_name == volume.name else volume.volume.status.phase


def _next_step(claim: ClaimRecord, volume: VolumeRecord) -> Iterator[Amend]:
    if not is_kept_for(volume, claim) or not _names_uid(volume):
        yield _keep(volume, claim)
    elif not claim.is_bound:
        yield _bind(claim, volume)
    elif claim.claim.status.phase != "Bound":
        yield _claim_status(claim, volume)


def _names_uid(volume: VolumeRecord) -> bool:
    """A reference without a uid reserves the volume for any claim of that name."""
    reference = volume.volume.spec.claim_ref
    return reference is not None and bool(reference.uid)


def _keep(volume: VolumeRecord, claim: ClaimRecord) -> Amend:
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
    return _amend(volume, {"metadata": metadata, "spec": {"claimRef": reference}})


def _bind(claim: ClaimRecord, volume: VolumeRecord) -> Amend:
    annotations = {BIND_COMPLETED: "yes"}
    if not claim.claim.spec.volume_name:
        annotations[BOUND_BY_CONTROLLER] = "yes"
    patch = {
        "metadata": _identity(claim) | {"annotations": annotations},
        "spec": {"volumeName": volume.name},
    }
    return _amend(claim, patch)


def _claim_status(claim: ClaimRecord, volume: VolumeRecord) -> Amend:
    status = {
        "phase": "Bound",
        "accessModes": list(volume.volume.spec.access_modes),
        "capacity": volume.volume.spec.capacity,
    }
    patch = {"metadata": _identity(claim), "status": status}
    return _amend(claim, patch, "status")


def _amend(record: ClaimRecord | VolumeRecord, patch: Json, subresource: str = "") -> Amend:
    """The patch names uid and resourceVersion of the object as it was observed."""
    if isinstance(record, ClaimRecord):
        metadata = {"namespace": record.key.namespace, "name": record.key.name}
        return Amend(PERSISTENT_VOLUME_CLAIM, {"metadata": metadata}, patch, subresource)
    return Amend(PERSISTENT_VOLUME, {"metadata": {"name": record.name}}, patch, subresource)


def _identity(record: ClaimRecord | VolumeRecord) -> Json:
    obj = record.claim if isinstance(record, ClaimRecord) else record.volume
    return {"uid": obj.metadata.uid, "resourceVersion": obj.metadata.resource_version}
