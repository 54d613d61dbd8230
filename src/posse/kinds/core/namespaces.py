"""Rules for Namespace. Its spec finalizer keeps it until the namespace controller has emptied it."""

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill, section
from posse.kinds.machinery.kind import (
    DeletionRules,
    Json,
    Kind,
    KindRules,
    PrintedColumn,
    keep_spec,
    keep_status,
)
from posse.kinds.machinery.metadata import metadata_errors, object_update_errors
from posse.model.formats import dns_label
from posse.model.namespace import Namespace

CONTENT_FINALIZER = "kubernetes"
NAME_LABEL = "kubernetes.io/metadata.name"


def default(obj: Json) -> None:
    """Selectors name namespaces by this label, so it always tells the name."""
    metadata = section(obj, "metadata")
    if metadata.get("name"):
        section(metadata, "labels")[NAME_LABEL] = metadata["name"]


def prepare_create(obj: Json) -> None:
    default(obj)  # A generated name is known only now.
    spec = section(obj, "spec")
    fill(spec, "finalizers", [])
    if isinstance(spec["finalizers"], list) and CONTENT_FINALIZER not in spec["finalizers"]:
        spec["finalizers"] = [*spec["finalizers"], CONTENT_FINALIZER]
    obj["status"] = {"phase": "Active"}


def prepare_update(new: Json, old: Json) -> None:
    """Finalizers of the spec are taken off by the finalize subresource only."""
    keep_status(new, old)
    finalizers = (old.get("spec") or {}).get("finalizers", [])
    new["spec"] = section(new, "spec") | {"finalizers": finalizers}


def validate(namespace: Namespace) -> list[FieldError]:
    return metadata_errors(namespace.metadata, namespaced=False, name_format=dns_label)


def _terminating(obj: Json) -> Json:
    return {**obj, "status": {**obj.get("status", {}), "phase": "Terminating"}}


def _has_content(obj: Json) -> bool:
    return bool(obj.get("spec", {}).get("finalizers"))


RULES = KindRules(
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    prepare_status_update=keep_spec,
    validate=validate,
    validate_update=object_update_errors,
    deletion=DeletionRules(mark=_terminating, is_held=_has_content, heeds_propagation=False),
)


NAMESPACE_COLUMNS = (
    NAME,
    PrintedColumn("Status", "string", "Active or Terminating.", 0, value_at("status", "phase", absent="")),
    AGE,
)

NAMESPACE = Kind(
    name="Namespace",
    plural="namespaces",
    namespaced=False,
    struct=Namespace,
    rules=RULES,
    columns=NAMESPACE_COLUMNS,
    short_names=("ns",),
    has_status=True,
    has_delete_collection=False,
    subresources=("finalize",),
    selectable_fields=("status.phase",),
)
