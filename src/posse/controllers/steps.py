"""Plans of reconcilers as values: objects to create, write, patch and delete, and events to record.

A plan consists of stages. The steps of a stage run concurrently; the next stage starts when all of them have
succeeded.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from posse.kinds.machinery.kind import Kind

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Write:
    """Replace an object as it was observed. A newer version is never overwritten: it ends the plan."""

    kind: Kind
    obj: Json
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Create:
    kind: Kind
    obj: Json
    # An object of that name will do as well.
    unless_present: bool = False
    # Reason of the event that reports a refusal.
    failure: str = "FailedCreate"
    # Reason of the event that reports success; empty for no event.
    success: str = ""
    # Reports on the subject that the name is taken.
    if_taken: Write | None = None


@dataclass(frozen=True, slots=True)
class Amend:
    """Patch an object. If it has changed or gone, the patch is dropped: the watch shows the change."""

    kind: Kind
    obj: Json
    # A merge patch that names uid and resourceVersion, or a strategic one that names the uid.
    patch: Json
    subresource: str = ""
    is_strategic: bool = False


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the object that was observed, not a later one of the same name.

    An empty propagation leaves the policy of a deletion under way as it is.
    """

    kind: Kind
    obj: Json
    propagation: str = "Background"


@dataclass(frozen=True, slots=True)
class ExpectAbsent:
    """End the plan if the object still exists; without a name, if the namespace has any object of the kind.

    Watches of different kinds are not ordered: an object may exist that has not been observed yet.
    """

    kind: Kind
    namespace: str
    name: str = ""
    uid: str = ""


Step = Create | Write | Amend | Delete | ExpectAbsent


class News(NamedTuple):
    """What happened to the subject of a plan, to be recorded as an event."""

    reason: str
    message: str
    is_warning: bool = False
    counter: str = ""
    """The metric that counts such events, if there is one."""


@dataclass(slots=True)
class Plan:
    stages: list[list[Step]] = field(default_factory=list)
    # Recorded unless the plan turned out to be outdated.
    news: list[News] = field(default_factory=list)
    # When to plan again if nothing is observed before.
    wake_at: float | None = None

    def then(self, *steps: Step) -> None:
        if steps:
            self.stages.append(list(steps))


def owner_reference(kind: Kind, owner: Json) -> Json:
    """Return the controller reference from an object to its owner."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Json) -> Json:
    """Return the controller reference of the object, empty if it has none."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), {})


def controller_uid(obj: Json, kind: Kind | None = None) -> str:
    """Return the uid of the controller of the object if it has one, and if that is of the kind."""
    owner = controller_of(obj)
    if kind is not None:
        group = owner.get("apiVersion", "").rpartition("/")[0]
        if (group, owner.get("kind")) != (kind.group, kind.name):
            return ""
    return owner.get("uid") or ""


def adopted(obj: Json, kind: Kind, owner: Json) -> Json:
    """Return an object without a controller with the owner as its controller."""
    metadata = obj["metadata"]
    references = [*(metadata.get("ownerReferences") or ()), owner_reference(kind, owner)]
    return {**obj, "metadata": metadata | {"ownerReferences": references}}


def is_deleting(obj: Json) -> bool:
    return bool(obj["metadata"].get("deletionTimestamp"))
