"""Templates of replicas, kept as ControllerRevisions: workers come from the revision of their leader.

Only the templates and the network make a revision. How many replicas there are, and how they are rolled out,
does not.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from posse.controllers.leader_worker_sets.keys import NAME, REVISION, labels_of
from posse.controllers.revision_hash import content_hash
from posse.controllers.steps import owner_reference
from posse.kinds.registry import CONTROLLER_REVISION, LEADER_WORKER_SET
from posse.model.decoding import decode
from posse.model.leader_worker_set import LeaderWorkerSetSpec

Json = dict[str, Any]

PARTS = ("leaderWorkerTemplate", "networkConfig")


class Revision(NamedTuple):
    key: str
    obj: Json
    is_new: bool = False


def current_revision(lws: Json, history: Sequence[Json]) -> Revision:
    """Find the revision of what the set says now, or make it."""
    data = revision_data(lws)
    for known in history:
        if known.get("data") == data:
            return Revision(key_of(known), known)
    number = max((int(known.get("revision") or 0) for known in history), default=0) + 1
    made = _new(lws, data, number)
    return Revision(key_of(made), made, is_new=True)


def revision_data(lws: Json) -> Json:
    spec = lws["spec"]
    return {"spec": {name: {**spec[name], "$patch": "replace"} for name in PARTS if spec.get(name)}}


def key_of(revision: Json) -> str:
    return str(labels_of(revision).get(REVISION, ""))


def find_revision(history: Iterable[Json], key: str) -> Json | None:
    return next((known for known in history if key_of(known) == key), None)


def restored(lws: Json, revision: Json) -> LeaderWorkerSetSpec:
    """Return the spec of the set with its templates as they were in the revision."""
    return decode(LeaderWorkerSetSpec, restored_json(lws, revision))


def restored_json(lws: Json, revision: Json) -> Json:
    kept = revision["data"]["spec"]
    parts = {
        name: {field: value for field, value in kept[name].items() if field != "$patch"}
        for name in PARTS
        if name in kept
    }
    return {**lws["spec"], **parts}


def _new(lws: Json, data: Json, number: int) -> Json:
    metadata, key = lws["metadata"], content_hash(data)
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.name,
        "metadata": {
            "name": f"{metadata['name']}-{key}-{number}",
            "namespace": metadata["namespace"],
            "labels": {NAME: metadata["name"], REVISION: key},
            "ownerReferences": [owner_reference(LEADER_WORKER_SET, lws)],
        },
        "data": data,
        "revision": number,
    }
