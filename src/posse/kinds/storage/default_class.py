"""The storage class of claims that name none."""

from collections.abc import Iterable

from posse.kinds.machinery.filling import section
from posse.kinds.machinery.kind import Json

IS_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


def fill_default_class(claim: Json, classes: Iterable[Json]) -> None:
    """Name the default class, the newest of several, in a claim that says nothing; "" says: none."""
    spec = section(claim, "spec")
    annotations = section(claim, "metadata").get("annotations") or {}
    if spec.get("storageClassName") is not None or _CLASS_ANNOTATION in annotations:
        return
    names = [each["metadata"]["name"] for each in sorted(filter(is_default, classes), key=_age)]
    if names:
        spec["storageClassName"] = names[-1]


def is_default(storage_class: Json) -> bool:
    return (storage_class["metadata"].get("annotations") or {}).get(IS_DEFAULT_CLASS) == "true"


def _age(storage_class: Json) -> tuple[str, str]:
    metadata = storage_class["metadata"]
    return metadata.get("creationTimestamp") or "", metadata["name"]
