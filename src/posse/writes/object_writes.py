"""Single API writes as values, with the precondition under which each is accepted."""

from dataclasses import dataclass
from typing import Any

import msgspec

from posse.kinds.machinery.errors import ApiError, not_found
from posse.kinds.machinery.kind import Json, Kind
from posse.transport.patches import STRATEGIC_MERGE_PATCH, Patch


@dataclass(frozen=True, slots=True)
class ObjectPatch:
    """A uid or resourceVersion in the body is a precondition: another object or version is refused."""

    kind: Kind
    namespace: str
    name: str
    patch: Patch
    subresource: str = ""
    reads_after_conflict: bool = False
    """Whether the object as it is after a conflict decides what the conflict means."""
    wanted: Json | None = None
    """Fields that make the patch unnecessary if the object has them after a conflict."""
    instead: "ObjectPatch | None" = None
    """What is written if the patch is refused as invalid and the object has the wanted fields."""
    finalizer: str = ""
    """Added once more if the answer lacks it: a controller may remove it between two writes."""

    verbs = ("patch", "update")
    """As authorizers call it: a patch may be denied as either."""

    @property
    def uid(self) -> str:
        uid: str = self.patch.body["metadata"].get("uid", "")
        return uid

    def __str__(self) -> str:
        what = f"{self.subresource} of {_name(self)}" if self.subresource else _name(self)
        return f"patch {what}: {msgspec.json.encode(self.patch.body).decode()}"


@dataclass(frozen=True, slots=True)
class ObjectDelete:
    """Delete the object with this uid, not another one of its name."""

    kind: Kind
    namespace: str
    name: str
    uid: str = ""
    reads_after_conflict: bool = False

    verbs = ("delete",)
    subresource = ""
    wanted = None

    def __str__(self) -> str:
        return f"delete {_name(self)}"


@dataclass(frozen=True, slots=True)
class ObjectCreate:
    """Create the object; one of its name that has the wanted fields will do as well."""

    kind: Kind
    namespace: str
    name: str
    obj: Json
    wanted: Json

    verbs = ("create",)
    subresource = ""
    uid = ""
    reads_after_conflict = True

    def __str__(self) -> str:
        return f"create {_name(self)}"


ObjectWrite = ObjectPatch | ObjectDelete | ObjectCreate


def patch_status(
    kind: Kind,
    namespace: str,
    name: str,
    uid: str,
    status: dict[str, Any],
    *,
    reads_after_conflict: bool = False,
) -> ObjectPatch:
    """Merge this into the status of the object, if it is still the one with this uid (any, if empty)."""
    patch = Patch(STRATEGIC_MERGE_PATCH, {"metadata": {"uid": uid} if uid else {}, "status": status})
    return ObjectPatch(kind, namespace, name, patch, "status", reads_after_conflict)


def conflict_resolved(write: ObjectWrite, conflict: ApiError, found: Json | None) -> ApiError | None:
    """What a conflict amounts to, given the object as it is now; None if it has what the write wanted."""
    if found is None or (write.uid and found["metadata"]["uid"] != write.uid):
        return not_found(write.kind, write.name)
    return None if write.wanted is not None and _has(found, write.wanted) else conflict


def follow_up(write: ObjectWrite, found: Json) -> ObjectPatch | None:
    """What is written instead of a patch that was refused as invalid, given the object as it is now."""
    instead = write.instead if isinstance(write, ObjectPatch) else None
    return instead if instead is not None and _has(found, write.wanted or {}) else None


def completion(write: ObjectPatch, answer: Json) -> ObjectPatch | None:
    """What is still to be written after this answer."""
    metadata = answer.get("metadata") or {}
    if not write.finalizer or not metadata or write.finalizer in (metadata.get("finalizers") or ()):
        return None
    body = {"metadata": {"uid": metadata["uid"], "finalizers": [write.finalizer]}}
    patch = Patch(STRATEGIC_MERGE_PATCH, body)
    return ObjectPatch(write.kind, write.namespace, write.name, patch)


def _has(found: Json, wanted: Json) -> bool:
    return all(
        _has(found.get(name) or {}, value) if isinstance(value, dict) else found.get(name) == value
        for name, value in wanted.items()
    )


def _name(write: ObjectWrite) -> str:
    return f"{write.kind.singular} {write.namespace}/{write.name}"
