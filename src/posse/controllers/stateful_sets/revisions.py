"""The history of a set: a ControllerRevision for each template of its pods, up to a limit."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from posse.controllers.revision_hash import content_hash
from posse.controllers.steps import owner_reference
from posse.kinds.registry import CONTROLLER_REVISION, STATEFUL_SET

Json = dict[str, Any]

HASH = "controller.kubernetes.io/hash"
REVISION_HISTORY_LIMIT = 10


@dataclass(frozen=True, slots=True)
class Revisions:
    """From what pods are made: those an update has not reached from `current`, all others from `update`."""

    current: Json
    update: Json
    collisions: int = 0
    # The update revision, when it does not exist yet; and when it is an old one that became the newest again.
    create: Json | None = None
    renumber: Json | None = None


def settle(stateful_set: Json, own: Sequence[Json], is_taken: Callable[[str], bool]) -> Revisions:
    """Find or create the current revisions; `is_taken` is true of names that belong to other sets."""
    data = revision_data(stateful_set)
    newest = max((int(item.get("revision") or 0) for item in own), default=0)
    collisions = int((stateful_set.get("status") or {}).get("collisionCount") or 0)
    update = next((item for item in own if item.get("data") == data), None)
    if update is None:
        made = _new(stateful_set, data, newest + 1, collisions)
        names = [item["metadata"]["name"] for item in own]
        while (name := made["metadata"]["name"]) in names or is_taken(name):
            collisions += 1
            made = _new(stateful_set, data, newest + 1, collisions)
        return Revisions(_current(stateful_set, own) or made, made, collisions, create=made)
    renumbered = update | {"revision": newest + 1} if int(update.get("revision") or 0) < newest else None
    return Revisions(_current(stateful_set, own) or update, update, collisions, renumber=renumbered)


def revision_data(stateful_set: Json) -> Json:
    return {"spec": {"template": {**stateful_set["spec"]["template"], "$patch": "replace"}}}


def template_of(revision: Json) -> Json:
    template = revision["data"]["spec"]["template"]
    return {name: part for name, part in template.items() if name != "$patch"}


def outdated(stateful_set: Json, own: Iterable[Json], live: Collection[str]) -> list[Json]:
    """Return the revisions beyond the limit, oldest first; those that something is made from never count."""
    limit = stateful_set["spec"].get("revisionHistoryLimit")
    idle = [item for item in own if item["metadata"]["name"] not in live]
    idle.sort(key=lambda item: (int(item.get("revision") or 0), item["metadata"]["name"]))
    excess = len(idle) - (REVISION_HISTORY_LIMIT if limit is None else limit)
    return idle[: max(0, excess)]


def _current(stateful_set: Json, own: Iterable[Json]) -> Json | None:
    name = (stateful_set.get("status") or {}).get("currentRevision")
    return next((item for item in own if item["metadata"]["name"] == name), None)


def _new(stateful_set: Json, data: Json, number: int, collisions: int) -> Json:
    metadata, digest = stateful_set["metadata"], content_hash(data, collisions)
    labels = (stateful_set["spec"]["template"].get("metadata") or {}).get("labels") or {}
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.name,
        "metadata": {
            "name": f"{metadata['name']}-{digest}",
            "namespace": metadata["namespace"],
            "labels": {**labels, HASH: digest},
            "ownerReferences": [owner_reference(STATEFUL_SET, stateful_set)],
        },
        "data": data,
        "revision": number,
    }
