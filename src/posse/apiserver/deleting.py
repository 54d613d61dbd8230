"""When an object goes away: at once, after a grace period, or once its finalizers are done. Pure.

What differs between kinds is the `DeletionRules` of their rules.
"""

from posse.apiserver.requests import DeleteOptions
from posse.kinds.machinery.errors import conflict
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.metadata import FOREGROUND_FINALIZER, ORPHAN_FINALIZER
from posse.model.timestamps import format_timestamp, parse_timestamp

# Without one of these an object goes at once, and its dependents after it, in the background.
PROPAGATION_FINALIZERS = {"Orphan": ORPHAN_FINALIZER, "Foreground": FOREGROUND_FINALIZER}


def check_preconditions(kind: Kind, obj: Json, uid: str, resource_version: str) -> None:
    metadata = obj["metadata"]
    wanted = {
        "UID": (uid, metadata["uid"]),
        "ResourceVersion": (resource_version, metadata["resourceVersion"]),
    }
    for field, (asked, actual) in wanted.items():
        if asked and asked != actual:
            text = f"Precondition failed: {field} in precondition: {asked}, {field} in object meta: {actual}"
            raise conflict(kind, metadata["name"], text)


def departing(kind: Kind, obj: Json, options: DeleteOptions, now: float) -> Json | None:
    """Return the object as it stays for now (itself if nothing changes), or None when it is gone at once."""
    deletion = kind.rules.deletion
    grace_seconds = deletion.grace_seconds(obj, options.grace_seconds)
    if deletion.heeds_propagation:
        obj = _held_for_dependents(obj, options.propagation)
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata:
        going = deletion.mark(_marked(obj, now + grace_seconds, grace_seconds))
        return None if may_vanish(kind, going) else going
    pending_seconds = metadata.get("deletionGracePeriodSeconds", 0)
    # A deletion under way can be hastened, not delayed.
    if options.grace_seconds is None or grace_seconds >= pending_seconds:
        return None if may_vanish(kind, obj) else obj
    since = parse_timestamp(metadata["deletionTimestamp"]) - pending_seconds
    going = _marked(obj, since + grace_seconds, grace_seconds)
    return None if may_vanish(kind, going) else going


def may_vanish(kind: Kind, obj: Json) -> bool:
    """Whether nothing holds an object any more that is being deleted."""
    metadata = obj["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("deletionGracePeriodSeconds")
        and not metadata.get("finalizers")
        and not kind.rules.deletion.is_held(obj)
    )


def deletion_answer(kind: Kind, gone: Json) -> Json:
    """What a client gets for an object that it deleted for good."""
    if kind.rules.deletion.answers_with_object:
        return gone
    metadata = gone["metadata"]
    details = {"name": metadata["name"], "group": kind.group, "kind": kind.plural, "uid": metadata["uid"]}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {name: value for name, value in details.items() if value},
    }


def _held_for_dependents(obj: Json, propagation: str) -> Json:
    """Return the object with the finalizer by which the garbage collector sees what its dependents are to
    meet.

    A deletion that does not say leaves what an earlier one, or a client, has put there.
    """
    before = obj["metadata"].get("finalizers") or []
    if not propagation:
        return obj
    finalizers = [name for name in before if name not in PROPAGATION_FINALIZERS.values()]
    if propagation in PROPAGATION_FINALIZERS:
        finalizers.append(PROPAGATION_FINALIZERS[propagation])
    if finalizers == before:
        return obj
    metadata = {name: value for name, value in obj["metadata"].items() if name != "finalizers"}
    return {**obj, "metadata": metadata | ({"finalizers": finalizers} if finalizers else {})}


def _marked(obj: Json, deletion_time: float, grace_seconds: int) -> Json:
    metadata = {
        **obj["metadata"],
        "deletionTimestamp": format_timestamp(deletion_time),
        "deletionGracePeriodSeconds": grace_seconds,
    }
    if "generation" in metadata:
        metadata["generation"] += 1
    return {**obj, "metadata": metadata}
