"""A namespace that is being deleted is emptied first; when nothing is left in it, it is let go.

What is in the namespace is an argument; objects that already are on their way out are only waited for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from posse.kinds.core.namespaces import CONTENT_FINALIZER
from posse.kinds.machinery.kind import Kind

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeleteObject:
    kind: Kind
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """The namespace as it is to be sent to its finalize subresource."""

    body: Json


Step = DeleteObject | LetGo


def is_terminating(namespace: Json) -> bool:
    return bool(namespace["metadata"].get("deletionTimestamp"))


def next_steps(namespace: Json, contents: Iterable[tuple[Kind, Json]]) -> list[Step]:
    """Return what is to be done about a namespace that is being deleted, given everything in it."""
    left = list(contents)
    if left:
        return [
            DeleteObject(kind, obj["metadata"]["name"], obj["metadata"]["uid"])
            for kind, obj in left
            if not obj["metadata"].get("deletionTimestamp")
        ]
    finalizers = (namespace.get("spec") or {}).get("finalizers") or []
    if CONTENT_FINALIZER not in finalizers:
        return []
    others = [item for item in finalizers if item != CONTENT_FINALIZER]
    return [LetGo(namespace | {"spec": {**namespace["spec"], "finalizers": others}})]
