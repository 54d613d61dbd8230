"""What `kubectl get` shows of volumes, claims and storage classes besides name and age."""

from collections.abc import Callable, Mapping
from typing import Any

from posse.kinds.columns import AGE, NAME
from posse.kinds.machinery.kind import Json, PrintedColumn

_UNSET = "<unset>"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
"""In the order in which they are shown."""


def _spec(obj: Json) -> Mapping[str, Any]:
    return obj.get("spec") or {}


def _status(obj: Json) -> Mapping[str, Any]:
    return obj.get("status") or {}


def _annotations(obj: Json) -> Mapping[str, str]:
    return obj["metadata"].get("annotations") or {}


def _of_spec(field: str, absent: str = "") -> Callable[[Json, float], str]:
    return lambda obj, _now: str(_spec(obj).get(field) or absent)


def _of_class(field: str, absent: str = "") -> Callable[[Json, float], str]:
    return lambda obj, _now: str(obj.get(field) or absent)


def _phase(obj: Json, _now: float) -> str:
    return "Terminating" if obj["metadata"].get("deletionTimestamp") else str(_status(obj).get("phase") or "")


def _modes(holder: Mapping[str, Any]) -> str:
    return ",".join(
        short for mode, short in _ACCESS_MODES.items() if mode in (holder.get("accessModes") or ())
    )


def _storage(holder: Mapping[str, Any]) -> str:
    return str((holder.get("capacity") or {}).get("storage", "0"))


def _storage_class(obj: Json, _now: float) -> str:
    annotated = _annotations(obj).get(_CLASS_ANNOTATION)
    return annotated if annotated is not None else str(_spec(obj).get("storageClassName") or "")


def _volume_capacity(volume: Json, _now: float) -> str:
    return _storage(_spec(volume))


def _volume_modes(volume: Json, _now: float) -> str:
    return _modes(_spec(volume))


def _volume_claim(volume: Json, _now: float) -> str:
    claim = _spec(volume).get("claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _volume_reason(volume: Json, _now: float) -> str:
    return str(_status(volume).get("reason") or "")


def _claim_capacity(claim: Json, _now: float) -> str:
    """What was asked for is not shown: a claim has a size once it has a volume."""
    return _storage(_status(claim)) if _spec(claim).get("volumeName") else ""


def _claim_modes(claim: Json, _now: float) -> str:
    return _modes(_status(claim)) if _spec(claim).get("volumeName") else ""


def _class_name(storage_class: Json, _now: float) -> str:
    is_default = any(_annotations(storage_class).get(key) == "true" for key in _DEFAULT_ANNOTATIONS)
    name = storage_class["metadata"]["name"]
    return f"{name} (default)" if is_default else str(name)


def _may_grow(storage_class: Json, _now: float) -> bool:
    return bool(storage_class.get("allowVolumeExpansion"))


_STATUS = PrintedColumn("Status", "string", "How far it has come.", 0, _phase)
_CLASS = PrintedColumn("StorageClass", "string", "Storage class it belongs to.", 0, _storage_class)
_ATTRIBUTES = PrintedColumn(
    "VolumeAttributesClass",
    "string",
    "Class of its changeable attributes.",
    0,
    _of_spec("volumeAttributesClassName", _UNSET),
)
VOLUME_STATUS_COLUMNS = (
    PrintedColumn("Capacity", "string", "Size of the volume.", 0, _volume_capacity),
    PrintedColumn("Access Modes", "string", "How it can be mounted.", 0, _volume_modes),
    PrintedColumn(
        "Reclaim Policy",
        "string",
        "What becomes of it after its claim.",
        0,
        _of_spec("persistentVolumeReclaimPolicy"),
    ),
    _STATUS,
    PrintedColumn("Claim", "string", "Claim it is bound to.", 0, _volume_claim),
    _CLASS,
    _ATTRIBUTES,
    PrintedColumn("Reason", "string", "Why it failed, in one word.", 0, _volume_reason),
)
CLAIM_STATUS_COLUMNS = (
    _STATUS,
    PrintedColumn("Volume", "string", "Volume it is bound to.", 0, _of_spec("volumeName")),
    PrintedColumn("Capacity", "string", "Size of the volume behind it.", 0, _claim_capacity),
    PrintedColumn("Access Modes", "string", "How it can be mounted.", 0, _claim_modes),
    _CLASS,
    _ATTRIBUTES,
)
MODE_WIDE_COLUMNS = (
    PrintedColumn("VolumeMode", "string", "Filesystem or Block.", 1, _of_spec("volumeMode", _UNSET)),
)
STORAGE_CLASS_OWN_COLUMNS = (
    PrintedColumn(
        "Name", "string", "Name of the class, and whether claims get it by default.", 0, _class_name, "name"
    ),
    PrintedColumn("Provisioner", "string", "Who makes its volumes.", 0, _of_class("provisioner")),
    PrintedColumn(
        "ReclaimPolicy", "string", "What becomes of volumes.", 0, _of_class("reclaimPolicy", "Delete")
    ),
    PrintedColumn(
        "VolumeBindingMode",
        "string",
        "Whether binding waits for a pod.",
        0,
        _of_class("volumeBindingMode", "Immediate"),
    ),
    PrintedColumn("AllowVolumeExpansion", "boolean", "Whether volumes may grow.", 0, _may_grow),
)


def _driver_count(csi_node: Json, _now: float) -> int:
    return len((csi_node.get("spec") or {}).get("drivers") or [])


CSI_NODE_COLUMNS = (
    NAME,
    PrintedColumn("Drivers", "integer", "Storage drivers on the node.", 0, _driver_count),
    AGE,
)

PERSISTENT_VOLUME_COLUMNS = (NAME, *VOLUME_STATUS_COLUMNS, AGE, *MODE_WIDE_COLUMNS)

PERSISTENT_VOLUME_CLAIM_COLUMNS = (NAME, *CLAIM_STATUS_COLUMNS, AGE, *MODE_WIDE_COLUMNS)

STORAGE_CLASS_COLUMNS = (*STORAGE_CLASS_OWN_COLUMNS, AGE)
