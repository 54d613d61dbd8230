"""Rules for persistent volumes, claims and storage classes: only what the scheduler relies on."""

from collections.abc import Sequence

from posse.kinds.columns import NAME_AND_AGE
from posse.kinds.machinery.checks import duplicate_names, not_negative, one_of, required
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill, fill_text, section
from posse.kinds.machinery.kind import DeletionRules, Json, Kind, KindRules, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors, object_update_errors
from posse.kinds.machinery.quantities import amounts_errors
from posse.kinds.storage.storage_columns import (
    CSI_NODE_COLUMNS,
    PERSISTENT_VOLUME_CLAIM_COLUMNS,
    PERSISTENT_VOLUME_COLUMNS,
    STORAGE_CLASS_COLUMNS,
)
from posse.model.formats import dns_subdomain
from posse.model.meta import Quantity
from posse.model.volume import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    StorageClass,
)

ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")

_volume_mode = one_of("Block", "Filesystem")
_reclaim_policy = one_of("Delete", "Recycle", "Retain")
_binding_mode = one_of("Immediate", "WaitForFirstConsumer")


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
    spec = volume.spec
    errors = metadata_errors(volume.metadata, namespaced=False)
    errors += _access_mode_errors("spec.accessModes", spec.access_modes)
    errors += _capacity_errors("spec.capacity", spec.capacity)
    errors += _reclaim_policy("spec.persistentVolumeReclaimPolicy", spec.persistent_volume_reclaim_policy)
    errors += _volume_mode("spec.volumeMode", spec.volume_mode)
    if spec.node_affinity is not None:
        field = "spec.nodeAffinity.required"
        required = spec.node_affinity.required
        errors += [FieldError.required(field)] if required is None else declared_errors(field, required)
    return errors


def validate_claim(claim: PersistentVolumeClaim) -> list[FieldError]:
    return metadata_errors(claim.metadata, namespaced=True) + claim_spec_errors("spec", claim.spec)


def claim_spec_errors(field: str, spec: PersistentVolumeClaimSpec) -> list[FieldError]:
    return [
        *_access_mode_errors(f"{field}.accessModes", spec.access_modes),
        *_capacity_errors(f"{field}.resources.requests", spec.resources.requests),
        *declared_errors(f"{field}.selector", spec.selector),
        *_volume_mode(f"{field}.volumeMode", spec.volume_mode),
    ]


def validate_storage_class(storage_class: StorageClass) -> list[FieldError]:
    errors = metadata_errors(storage_class.metadata, namespaced=False)
    if not storage_class.provisioner:
        errors.append(FieldError.required("provisioner"))
    errors += _reclaim_policy("reclaimPolicy", storage_class.reclaim_policy)
    return errors + _binding_mode("volumeBindingMode", storage_class.volume_binding_mode)


def validate_storage_class_update(new: StorageClass, old: StorageClass) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.provisioner != old.provisioner:
        errors.append(FieldError.forbidden("provisioner", "updates to provisioner are forbidden."))
    if new.parameters != old.parameters:
        errors.append(FieldError.forbidden("parameters", "updates to parameters are forbidden."))
    for field, value, before in (
        ("reclaimPolicy", new.reclaim_policy, old.reclaim_policy),
        ("volumeBindingMode", new.volume_binding_mode, old.volume_binding_mode),
    ):
        if value != before:
            errors.append(FieldError.invalid(field, value, "field is immutable"))
    return errors


def validate_csi_node(node: CSINode) -> list[FieldError]:
    errors = metadata_errors(node.metadata, namespaced=False)
    for index, driver in enumerate(node.spec.drivers):
        field = f"spec.drivers[{index}]"
        errors += required(f"{field}.name", driver.name, dns_subdomain)
        if not driver.node_id:
            errors.append(FieldError.required(f"{field}.nodeID"))
        if driver.allocatable is not None:
            errors += not_negative(f"{field}.allocatable.count", driver.allocatable.count)
    return errors + duplicate_names("spec.drivers", node.spec.drivers)


def validate_csi_node_update(new: CSINode, old: CSINode) -> list[FieldError]:
    return [*metadata_update_errors(new.metadata, old.metadata), *validate_csi_node(new)]


def validate_csi_driver(driver: CSIDriver) -> list[FieldError]:
    return metadata_errors(driver.metadata, namespaced=False)


def _access_mode_errors(field: str, modes: Sequence[str]) -> list[FieldError]:
    if not modes:
        return [FieldError.required(field, "at least 1 access mode is required")]
    return [FieldError.not_supported(field, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]


def _capacity_errors(field: str, capacity: dict[str, Quantity]) -> list[FieldError]:
    if "storage" not in capacity:
        return [FieldError.required(f"{field}[storage]")]
    return amounts_errors(field, capacity)


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
