"""All knowledge of storage, and the promises to pods whose bindings are in flight.

A promise holds while its pod is on its node. The claim stated by a volume itself precedes any promise:
promises bridge the time until the cluster shows what was decided.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from posse.engine.decisions import KeepVolume, VolumeStep
from posse.engine.events import StorageObject
from posse.engine.keys import ClaimKey, PodRef
from posse.engine.storage.records import (
    SELECTED_NODE,
    ClaimRecord,
    VolumeRecord,
    can_hold,
    is_kept_for,
    is_open_to,
    read_claim,
    read_volume,
    smallest_first,
)
from posse.model.pod import Pod
from posse.model.quantity import QuantityError
from posse.model.selectors import SelectorError
from posse.model.volume import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    Volume,
)

_RBD = "RBD"


@dataclass(frozen=True, slots=True)
class ClaimUse:
    key: ClaimKey
    owner: PodRef | None = None
    """Set for a claim that is made for one pod and deleted with it: the pod that must own it."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk that pods on one node can share only if all of them mount it read-only."""

    kind: str
    identity: tuple[str, ...]
    read_only: bool
    monitors: tuple[str, ...] = ()
    """For RBD: the same image seen through different monitors is another disk."""

    def clashes(self, other: "Disk") -> bool:
        if (self.kind, self.identity) != (other.kind, other.identity) or (self.read_only and other.read_only):
            return False
        return self.kind != _RBD or any(monitor in other.monitors for monitor in self.monitors)


@dataclass(frozen=True, slots=True)
class VolumeNeeds:
    claims: tuple[ClaimUse, ...] = ()
    """In the order of the pod's volumes, each once."""
    disks: tuple[Disk, ...] = ()


def volume_needs(pod: Pod) -> VolumeNeeds | None:
    """The pod's volume needs; None if no storage rule applies to it."""
    claims = tuple(dict.fromkeys(_claims(pod)))
    disks = tuple(dict.fromkeys(disk for volume in pod.spec.volumes for disk in _disks(volume)))
    return VolumeNeeds(claims, disks) if claims or disks else None


def _claims(pod: Pod) -> Iterator[ClaimUse]:
    meta = pod.metadata
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield ClaimUse(ClaimKey(meta.namespace, volume.persistent_volume_claim.claim_name))
        elif volume.ephemeral is not None:
            name = f"{meta.name}-{volume.name}"
            yield ClaimUse(ClaimKey(meta.namespace, name), PodRef(meta.namespace, meta.name, meta.uid))


def _disks(volume: Volume) -> Iterator[Disk]:
    if source := _fields(volume.gce_persistent_disk):
        yield Disk("GCE", (_text(source, "pdName"),), bool(source.get("readOnly")))
    if source := _fields(volume.aws_elastic_block_store):
        # Two pods cannot share one, even read-only.
        yield Disk("EBS", (_text(source, "volumeID"),), read_only=False)
    if source := _fields(volume.iscsi):
        yield Disk("ISCSI", (_text(source, "iqn"),), bool(source.get("readOnly")))
    if source := _fields(volume.rbd):
        identity = _text(source, "pool") or "rbd", _text(source, "image")
        monitors = tuple(sorted(str(monitor) for monitor in source.get("monitors") or ()))
        yield Disk(_RBD, identity, bool(source.get("readOnly")), monitors)


def _fields(source: Any) -> dict[str, Any]:
    return source if isinstance(source, dict) else {}


def _text(source: dict[str, Any], name: str) -> str:
    return str(source.get(name) or "")


class VolumeBook:
    def __init__(self) -> None:
        self.claims: dict[ClaimKey, ClaimRecord] = {}
        self.unreadable_claims: dict[ClaimKey, str] = {}
        """Invalid claims, with the error."""
        self.volumes: dict[str, VolumeRecord] = {}
        """Invalid volumes are left out: no pod can use them."""
        self.classes: dict[str, StorageClass] = {}
        self.csi_nodes: dict[str, CSINode] = {}
        self.csi_drivers: dict[str, CSIDriver] = {}
        self.knowledge_version = 0
        """Grows when the cluster shows something new."""
        self.promise_version = 0
        """Grows when a promise is made or withdrawn."""
        self.changed_claims: dict[ClaimKey, None] = {}
        self._of_class: dict[str, dict[str, VolumeRecord]] = {}
        self._keepers: dict[str, dict[str, ClaimKey]] = {}
        """The claim for which a volume is reserved, by uids of pods with that promise."""
        self._nodes: dict[ClaimKey, dict[str, str]] = {}
        """The node for which a claim's volume is provisioned, by uids of pods with that promise."""

    # --- what the cluster shows --------------------------------------------------------------------------

    def put(self, obj: StorageObject) -> None:
        self.knowledge_version += 1
        name = obj.metadata.name
        match obj:
            case PersistentVolumeClaim():
                self._put_claim(obj)
            case PersistentVolume():
                self._put_volume(obj)
            case StorageClass():
                self.classes[name] = obj
            case CSINode():
                self.csi_nodes[name] = obj
            case CSIDriver():
                self.csi_drivers[name] = obj

    def drop(self, obj: StorageObject) -> None:
        self.knowledge_version += 1
        name = obj.metadata.name
        match obj:
            case PersistentVolumeClaim():
                self._drop_claim(ClaimKey(obj.metadata.namespace, name))
            case PersistentVolume():
                self._drop_volume(name)
            case StorageClass():
                self.classes.pop(name, None)
            case CSINode():
                self.csi_nodes.pop(name, None)
            case CSIDriver():
                self.csi_drivers.pop(name, None)

    def _put_claim(self, claim: PersistentVolumeClaim) -> None:
        key = ClaimKey(claim.metadata.namespace, claim.metadata.name)
        self._drop_claim(key)
        try:
            self.claims[key] = read_claim(claim)
        except (QuantityError, SelectorError) as error:
            self.unreadable_claims[key] = str(error)

    def _drop_claim(self, key: ClaimKey) -> None:
        self.changed_claims[key] = None
        self.claims.pop(key, None)
        self.unreadable_claims.pop(key, None)

    def _put_volume(self, volume: PersistentVolume) -> None:
        self._drop_volume(volume.metadata.name)
        try:
            record = read_volume(volume)
        except QuantityError:
            return
        self.volumes[record.name] = record
        self._of_class.setdefault(record.storage_class, {})[record.name] = record

    def _drop_volume(self, name: str) -> None:
        record = self.volumes.pop(name, None)
        if record is not None:
            del self._of_class[record.storage_class][name]

    def take_changed_claims(self) -> Collection[ClaimKey]:
        """Claims that were added, changed or removed since the last call."""
        taken, self.changed_claims = self.changed_claims, {}
        return taken

    # --- what follows from it ----------------------------------------------------------------------------

    def volume_of(self, claim: ClaimRecord) -> VolumeRecord | None:
        return self.volumes.get(claim.claim.spec.volume_name)

    def is_delayed(self, claim: ClaimRecord) -> bool:
        """Whether an unbound claim waits for a pod's node. A claim that names its volume does not."""
        storage_class = self.classes.get(claim.storage_class)
        return (
            not claim.claim.spec.volume_name
            and storage_class is not None
            and storage_class.volume_binding_mode == "WaitForFirstConsumer"
        )

    def is_for_one_pod(self, key: ClaimKey) -> bool:
        claim = self.claims.get(key)
        return claim is not None and "ReadWriteOncePod" in claim.claim.spec.access_modes

    def selected_node(self, claim: ClaimRecord) -> str:
        """The node for which the claim's volume is provisioned; empty if none is selected yet."""
        promised = self._nodes.get(claim.key)
        if promised:
            return next(iter(promised.values()))
        return claim.claim.metadata.annotations.get(SELECTED_NODE, "")

    def offers(self, claim: ClaimRecord) -> list[VolumeRecord]:
        """Volumes that an unbound claim may take, best first: the one reserved for it, else the smallest."""
        of_class = self._of_class.get(claim.storage_class, {}).values()
        kept = [volume for volume in of_class if self._is_kept(volume, claim) and can_hold(volume, claim)]
        if kept:
            return [min(kept, key=smallest_first)]
        free = [v for v in of_class if v.name not in self._keepers and is_open_to(v, claim)]
        return sorted(free, key=smallest_first)

    def _is_kept(self, volume: VolumeRecord, claim: ClaimRecord) -> bool:
        if volume.volume.spec.claim_ref is not None:
            return is_kept_for(volume, claim)
        return claim.key in self._keepers.get(volume.name, {}).values()

    # --- what pods have been promised --------------------------------------------------------------------

    @property
    def has_promises(self) -> bool:
        return bool(self._keepers or self._nodes)

    def promise(self, uid: str, steps: tuple[VolumeStep, ...]) -> None:
        for step in steps:
            if isinstance(step, KeepVolume):
                self._keepers.setdefault(step.volume, {})[uid] = step.claim
            else:
                self._nodes.setdefault(step.claim, {})[uid] = step.node
        self.promise_version += 1

    def withdraw(self, uid: str, steps: tuple[VolumeStep, ...]) -> None:
        for step in steps:
            if isinstance(step, KeepVolume):
                del self._keepers[step.volume][uid]
                if not self._keepers[step.volume]:
                    del self._keepers[step.volume]
            else:
                del self._nodes[step.claim][uid]
                if not self._nodes[step.claim]:
                    del self._nodes[step.claim]
        self.promise_version += 1
