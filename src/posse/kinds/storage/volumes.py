"""Rules for persistent volumes, claims and storage classes: only what the scheduler relies on."""

from posse.kinds.columns import NAME_AND_AGE
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill, fill_text, section
from posse.kinds.machinery.kind import DeletionRules, Json, Kind, KindRules, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors, object_update_errors
from posse.kinds.storage.storage_columns import (
    CSI_NODE_COLUMNS,
    PERSISTENT_VOLUME_CLAIM_COLUMNS,
    PERSISTENT_VOLUME_COLUMNS,
    STORAGE_CLASS_COLUMNS,
)
from posse.model.volume import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)


def default_volume(obj: Json) -> None:
    spec = section(obj, "spec")
    fill_text(spec, "persistentVolumeReclaimPolicy", "Retain")
    fill(spec, "volumeMode", "Filesystem")


def default_claim(obj: Json) -> None:
    fill(section(obj, "spec"), "volumeMode", "Filesystem")


def default_storage_class(obj: Json) -> None:
    fill_text(obj, "reclaimPolicy", "Delete")
    fill_text(obj, "volumeBindingMode", "Immediate")


def start_pending(obj: Json) -> None:
    obj["status"] = {"phase": "Pending"}


def validate_volume(volume: PersistentVolume) -> list[FieldError]:
    return metadata_errors(volume.metadata, namespaced=False) + declared_errors("spec", volume.spec)


def validate_claim(claim: PersistentVolumeClaim) -> list[FieldError]:
    return metadata_errors(claim.metadata, namespaced=True) + declared_errors("spec", claim.spec)


def validate_storage_class(storage_class: StorageClass) -> list[FieldError]:
    return metadata_errors(storage_class.metadata, namespaced=False) + declared_errors("", storage_class)


def validate_storage_class_update(new: StorageClass, old: StorageClass) -> list[FieldError]:
    return metadata_update_errors(new.metadata, old.metadata) + declared_errors("", new, old)


def validate_csi_node(node: CSINode) -> list[FieldError]:
    return metadata_errors(node.metadata, namespaced=False) + declared_errors("spec", node.spec)


def validate_csi_node_update(new: CSINode, old: CSINode) -> list[FieldError]:
    return metadata_update_errors(new.metadata, old.metadata) + declared_errors("spec", new.spec)


def validate_csi_driver(driver: CSIDriver) -> list[FieldError]:
    return metadata_errors(driver.metadata, namespaced=False)


VOLUME_RULES = KindRules(
    default=default_volume,
    prepare_create=start_pending,
    prepare_status_update=keep_spec,
    validate=validate_volume,
    validate_update=object_update_errors,
    deletion=DeletionRules(answers_with_object=True),
)
CLAIM_RULES = KindRules(
    default=default_claim,
    prepare_create=start_pending,
    prepare_status_update=keep_spec,
    validate=validate_claim,
    validate_update=object_update_errors,
    deletion=DeletionRules(answers_with_object=True),
)
STORAGE_CLASS_RULES = KindRules(
    default=default_storage_class,
    validate=validate_storage_class,
    validate_update=validate_storage_class_update,
)
CSI_NODE_RULES = KindRules(validate=validate_csi_node, validate_update=validate_csi_node_update)
CSI_DRIVER_RULES = KindRules(validate=validate_csi_driver, validate_update=object_update_errors)


PERSISTENT_VOLUME = Kind(
    name="PersistentVolume",
    plural="persistentvolumes",
    namespaced=False,
    struct=PersistentVolume,
    rules=VOLUME_RULES,
    columns=PERSISTENT_VOLUME_COLUMNS,
    short_names=("pv",),
    has_status=True,
)

PERSISTENT_VOLUME_CLAIM = Kind(
    name="PersistentVolumeClaim",
    plural="persistentvolumeclaims",
    struct=PersistentVolumeClaim,
    rules=CLAIM_RULES,
    columns=PERSISTENT_VOLUME_CLAIM_COLUMNS,
    short_names=("pvc",),
    has_status=True,
)

STORAGE_CLASS = Kind(
    name="StorageClass",
    plural="storageclasses",
    group="storage.k8s.io",
    namespaced=False,
    struct=StorageClass,
    rules=STORAGE_CLASS_RULES,
    columns=STORAGE_CLASS_COLUMNS,
    short_names=("sc",),
)

CSI_NODE = Kind(
    name="CSINode",
    plural="csinodes",
    group="storage.k8s.io",
    namespaced=False,
    struct=CSINode,
    rules=CSI_NODE_RULES,
    columns=CSI_NODE_COLUMNS,
    has_status=True,
)

CSI_DRIVER = Kind(
    name="CSIDriver",
    plural="csidrivers",
    group="storage.k8s.io",
    namespaced=False,
    struct=CSIDriver,
    rules=CSI_DRIVER_RULES,
    columns=NAME_AND_AGE,
)
