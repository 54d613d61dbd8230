"""What every object's metadata must be, when it is made and when it changes. Only the form of names differs
by kind.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from posse.kinds.machinery.checks import formatted
from posse.kinds.machinery.errors import FieldError
from posse.model.formats import Format, dns_label, dns_subdomain, label_key, label_value
from posse.model.meta import ObjectMeta, OwnerReference

ANNOTATIONS_BYTES_MAX = 256 * 1024
ORPHAN_FINALIZER = "orphan"
FOREGROUND_FINALIZER = "foregroundDeletion"
STANDARD_FINALIZERS = frozenset({"kubernetes", ORPHAN_FINALIZER, FOREGROUND_FINALIZER})
# Given by the server or by the path of the request; a client may leave them out but not change them.
IMMUTABLE_FIELDS = {
    "name": "name",
    "namespace": "namespace",
    "uid": "uid",
    "creationTimestamp": "creation_timestamp",
}


def metadata_errors(
    meta: ObjectMeta, *, namespaced: bool, name_format: Format = dns_subdomain
) -> list[FieldError]:
    return [
        *_name_errors(meta, name_format),
        *_namespace_errors(meta, namespaced=namespaced),
        *_content_errors(meta),
    ]


def metadata_update_errors(new: ObjectMeta, old: ObjectMeta) -> list[FieldError]:
    errors = []
    for json_name, attribute in IMMUTABLE_FIELDS.items():
        value = getattr(new, attribute)
        if value and value != getattr(old, attribute):
            errors.append(FieldError.invalid(f"metadata.{json_name}", value, "field is immutable"))
    added = [name for name in new.finalizers if name not in old.finalizers]
    if old.deletion_timestamp and added:
        text = f"no new finalizers can be added if the object is being deleted, found new finalizers {added}"
        errors.append(FieldError.forbidden("metadata.finalizers", text))
    return errors if _content(new) == _content(old) else errors + _content_errors(new)


def _content(meta: ObjectMeta) -> tuple[object, ...]:
    return meta.labels, meta.annotations, meta.owner_references, meta.finalizers


def template_metadata_errors(meta: ObjectMeta) -> list[FieldError]:
    """Judge the metadata that a template passes on to the objects made from it."""
    return [
        *label_errors("metadata.labels", meta.labels),
        *_annotation_errors(meta.annotations),
        *_finalizer_errors(meta.finalizers),
    ]


class Described(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


def object_update_errors(new: Described, old: Described) -> list[FieldError]:
    """For kinds that may change in any way, except for who they are."""
    return metadata_update_errors(new.metadata, old.metadata)


def label_errors(field: str, labels: Mapping[str, str]) -> list[FieldError]:
    errors = []
    for key, value in labels.items():
        errors += formatted(field, key, label_key)
        errors += formatted(field, value, label_value)
    return errors


def _name_errors(meta: ObjectMeta, name_format: Format) -> list[FieldError]:
    errors = []
    if meta.generate_name:
        # The server appends to the prefix, so a dash at its end is fine.
        sample = meta.generate_name[:-1] + "a" if meta.generate_name.endswith("-") else meta.generate_name
        errors += [
            FieldError.invalid("metadata.generateName", meta.generate_name, problem)
            for problem in name_format(sample)
        ]
    if not meta.name:
        return [*errors, FieldError.required("metadata.name", "name or generateName is required")]
    return errors + formatted("metadata.name", meta.name, name_format)


def _namespace_errors(meta: ObjectMeta, *, namespaced: bool) -> list[FieldError]:
    if not namespaced:
        if not meta.namespace:
            return []
        return [FieldError.forbidden("metadata.namespace", "not allowed on this type")]
    if not meta.namespace:
        return [FieldError.required("metadata.namespace")]
    return formatted("metadata.namespace", meta.namespace, dns_label)


def _content_errors(meta: ObjectMeta) -> list[FieldError]:
    errors = label_errors("metadata.labels", meta.labels)
    errors += _annotation_errors(meta.annotations)
    for index, owner in enumerate(meta.owner_references):
        errors += _owner_errors(f"metadata.ownerReferences[{index}]", owner)
    controllers = [owner.name for owner in meta.owner_references if owner.controller]
    if len(controllers) > 1:
        text = (
            "Only one reference can have Controller set to true. "
            f'Found "true" in references for {controllers[0]} and {controllers[1]}'
        )
        errors.append(FieldError.invalid("metadata.ownerReferences", meta.owner_references, text))
    return errors + _finalizer_errors(meta.finalizers)


def _annotation_errors(annotations: Mapping[str, str]) -> list[FieldError]:
    if not annotations:
        return []
    field = "metadata.annotations"
    errors = [
        FieldError.invalid(field, key, problem) for key in annotations for problem in label_key(key.lower())
    ]
    size = sum(len(text.encode(errors="surrogatepass")) for entry in annotations.items() for text in entry)
    if size > ANNOTATIONS_BYTES_MAX:
        errors.append(FieldError.too_long(field, ANNOTATIONS_BYTES_MAX))
    return errors


def _owner_errors(field: str, owner: OwnerReference) -> list[FieldError]:
    values = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
    return [
        FieldError.invalid(f"{field}.{name}", "", f"{'version ' * (name == 'apiVersion')}must not be empty")
        for name, value in values.items()
        if not value
    ]


def _finalizer_errors(finalizers: Sequence[str]) -> list[FieldError]:
    if not finalizers:
        return []
    errors = []
    for index, name in enumerate(finalizers):
        errors += formatted("metadata.finalizers", name, label_key)
        if "/" not in name and name not in STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(FieldError.invalid(f"metadata.finalizers[{index}]", name, text))
    if {ORPHAN_FINALIZER, FOREGROUND_FINALIZER} <= set(finalizers):
        text = f"finalizer {ORPHAN_FINALIZER} and {FOREGROUND_FINALIZER} cannot be both set"
        errors.append(FieldError.invalid("metadata.finalizers", finalizers, text))
    return errors
