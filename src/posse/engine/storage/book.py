"""Everything known of storage, and what pods that are on their way have been promised of it.

A promise holds while the pod it was made for is on its node. What a volume itself says about its claim goes before
any promise: promises bridge the time until the cluster shows what was decided.
"""

from collections.abc import Collection

from posse.engine.decisions import KeepVolume, VolumeStep
from posse.engine.events import StorageObject
from posse.engine.keys import ClaimKey
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
from posse.model.quantity import QuantityError
from posse.model.selectors import SelectorError
from posse.model.volume import CSIDriver, CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass


class VolumeBook:
    def __init__(self) -> None:
        self.claims: dict[ClaimKey, ClaimRecord] = {}
        self.unreadable_claims: dict[ClaimKey, str] = {}
        """Claims that make no sense, with what is wrong."""
        self.volumes: dict[str, VolumeRecord] = {}
        """Volumes that make no sense are left out: nobody can use them."""
        self.classes: dict[str, StorageClass] = {}
        self.csi_nodes: dict[str, CSINode] = {}
        self.csi_drivers: dict[str, CSIDriver] = {}
        self.knowledge_version = 0
        """Grows when the cluster shows something new."""
        self.promise_version = 0
        """Grows when a promise is made or withdrawn."""
        self._changed_claims: dict[ClaimKey, None] = {}
        self._of_class: dict[str, dict[str, VolumeRecord]] = {}
        self._keepers: dict[str, dict[str, ClaimKey]] = {}
        """The claim for which a volume is promised to be kept, by pods that were told so."""
        self._nodes: dict[ClaimKey, dict[str, str]] = {}
        """The node for which a claim's volume is to be made, by pods that were told so."""

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
        self._changed_claims[key] = None
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
        """Claims that came, changed or went since the last time."""
        taken, self._changed_claims = self._changed_claims, {}
        return taken

    # --- what follows from it ----------------------------------------------------------------------------

    def volume_of(self, claim: ClaimRecord) -> VolumeRecord | None:
        return self.volumes.get(claim.claim.spec.volume_name)

    def is_delayed(self, claim: ClaimRecord) -> bool:
        """Whether an unbound claim waits for a pod to choose a node. A claim that names its volume does not."""
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
        """The node for which the claim's volume is being made; empty if it is for none yet."""
        promised = self._nodes.get(claim.key)
        if promised:
            return next(iter(promised.values()))
        return claim.claim.metadata.annotations.get(SELECTED_NODE, "")

    def offers(self, claim: ClaimRecord) -> list[VolumeRecord]:
        """Volumes that an unbound claim may take, the best first: the one that is kept for it, else the smallest."""
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
