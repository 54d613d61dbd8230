"""What reconcilers want done, as values: objects to make, to write, to delete, and what is to be told about it.

A plan consists of stages. The steps of one stage are taken side by side; the next begins when all of them have succeeded.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from posse.kinds.machinery.kind import Kind

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Write:
    """Replace an object as it was seen: what it has become in the meantime is never overwritten."""

    kind: Kind
    obj: Json
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Create:
    kind: Kind
    obj: Json
    # Something of that name will do as well.
    unless_present: bool = False
    # What events call it when it is refused.
    failure: str = "FailedCreate"
    # Says on the subject that there is something of that name, where that is an obstacle.
    if_taken: Write | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the object that was seen, not a namesake of it. With an empty propagation it goes as it is going already."""

    kind: Kind
    obj: Json
    propagation: str = "Background"


Step = Create | Write | Delete


class News(NamedTuple):
    """What happened to the object, to be told as an event."""

    reason: str
    message: str
    is_warning: bool = False


@dataclass(slots=True)
class Plan:
    stages: list[list[Step]] = field(default_factory=list)
    # Told unless the plan turned out to rest on what is no longer so.
    news: list[News] = field(default_factory=list)
    # When to look again, if nothing happens before.
    wake_at: float | None = None

    def then(self, *steps: Step) -> None:
        if steps:
            self.stages.append(list(steps))


def owner_reference(kind: Kind, owner: Json) -> Json:
    """Return the reference by which a controller claims what it has made."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Json) -> Json:
    """Return the reference to the object that claims this one, empty when there is none."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), {})


def controller_uid(obj: Json, kind: Kind | None = None) -> str:
    """Return the uid of the object that claims this one, if there is one, and if it is of the kind."""
    owner = controller_of(obj)
    if kind is not None:
        group = owner.get("apiVersion", "").rpartition("/")[0]
        if (group, owner.get("kind")) != (kind.group, kind.name):
            return ""
    return owner.get("uid") or ""


def adopted(obj: Json, kind: Kind, owner: Json) -> Json:
    """Return an object that nobody claims as the owner claims it."""
    metadata = obj["metadata"]
    references = [*(metadata.get("ownerReferences") or ()), owner_reference(kind, owner)]
    return {**obj, "metadata": metadata | {"ownerReferences": references}}


def is_deleting(obj: Json) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))
