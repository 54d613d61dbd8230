"""Claims and volumes in comparable form.

Parsed amounts, selectors, storage classes; and whether they match.
"""

from dataclasses import dataclass

from posse.engine.keys import ClaimKey
from posse.model.placement import NodeSelector
from posse.model.quantity import value
from posse.model.selectors import LabelQuery, label_query
from posse.model.volume import PersistentVolume, PersistentVolumeClaim

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_FILESYSTEM = "Filesystem"


@dataclass(frozen=True, slots=True, eq=False)
class ClaimRecord:
    key: ClaimKey
    claim: PersistentVolumeClaim
    size: int
    labels: LabelQuery | None
    """The claim's selector for volumes; None if it has none."""
    storage_class: str

    @property
    def is_bound(self) -> bool:
        """Both sides agree. A claim whose volume has not agreed yet is not bound."""
        return bool(self.claim.spec.volume_name) and BIND_COMPLETED in self.claim.metadata.annotations


@dataclass(frozen=True, slots=True, eq=False)
class VolumeRecord:
    name: str
    volume: PersistentVolume
    capacity: int
    storage_class: str

    @property
    def node_selector(self) -> NodeSelector | None:
        """The nodes that reach the volume; None if all do."""
        affinity = self.volume.spec.node_affinity
        return affinity.required if affinity is not None else None

    @property
    def claim_key(self) -> ClaimKey | None:
        """The claim that the volume names, whatever wrote it."""
        reference = self.volume.spec.claim_ref
        return ClaimKey(reference.namespace, reference.name) if reference is not None else None

    @property
    def csi(self) -> tuple[str, str]:
        """Driver and handle; empty for volumes that no CSI driver attaches."""
        source = self.volume.spec.csi
        if not isinstance(source, dict):
            return "", ""
        return str(source.get("driver") or ""), str(source.get("volumeHandle") or "")


def read_claim(claim: PersistentVolumeClaim) -> ClaimRecord:
    """Raise QuantityError or SelectorError if the claim is invalid."""
    spec = claim.spec
    return ClaimRecord(
        key=ClaimKey(claim.metadata.namespace, claim.metadata.name),
        claim=claim,
        size=value(spec.resources.requests.get("storage", 0)),
        labels=label_query(spec.selector) if spec.selector is not None else None,
        storage_class=claim.metadata.annotations.get(_CLASS_ANNOTATION, spec.storage_class_name or ""),
    )


def read_volume(volume: PersistentVolume) -> VolumeRecord:
    """Raise QuantityError if the volume is invalid."""
    return VolumeRecord(
        name=volume.metadata.name,
        volume=volume,
        capacity=value(volume.spec.capacity.get("storage", 0)),
        storage_class=volume.metadata.annotations.get(_CLASS_ANNOTATION, volume.spec.storage_class_name),
    )


def is_kept_for(volume: VolumeRecord, claim: ClaimRecord) -> bool:
    """The volume names the claim; without a uid it means any claim of that name."""
    reference = volume.volume.spec.claim_ref
    return (
        reference is not None
        and volume.claim_key == claim.key
        and reference.uid in {"", claim.claim.metadata.uid}
    )


def can_hold(volume: VolumeRecord, claim: ClaimRecord) -> bool:
    """Checked even for a volume that is reserved for the claim."""
    wanted, offered = claim.claim.spec, volume.volume.spec
    return (
        volume.capacity >= claim.size
        and (wanted.volume_mode or _FILESYSTEM) == (offered.volume_mode or _FILESYSTEM)
        and (wanted.volume_attributes_class_name or "") == (offered.volume_attributes_class_name or "")
        and not volume.volume.metadata.deletion_timestamp
    )


def is_open_to(volume: VolumeRecord, claim: ClaimRecord) -> bool:
    """Whether the claim may take a volume that is reserved for no claim."""
    return (
        volume.volume.spec.claim_ref is None
        and volume.volume.status.phase == "Available"
        and volume.storage_class == claim.storage_class
        and (claim.labels is None or claim.labels.matches(volume.volume.metadata.labels))
        and all(mode in volume.volume.spec.access_modes for mode in claim.claim.spec.access_modes)
        and can_hold(volume, claim)
    )


def smallest_first(volume: VolumeRecord) -> tuple[int, str]:
    return volume.capacity, volume.name
