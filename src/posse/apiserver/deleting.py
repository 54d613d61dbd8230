"""When an object goes away: at once, after a grace period, or once its finalizers are done. Pure.

Pods on a node get time to stop, and the kubelet of the node removes them. A namespace waits until its content
is gone.
"""

from posse.apiserver.requests import DeleteOptions
from posse.kinds.core.pod_defaults import GRACE_SECONDS
from posse.kinds.core.pods import GRACE_SECONDS_MAX
from posse.kinds.machinery.errors import conflict
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.metadata import FOREGROUND_FINALIZER, ORPHAN_FINALIZER
from posse.kinds.registry import NAMESPACE, POD
from posse.model.pod import ENDED_PHASES
from posse.model.timestamps import format_timestamp, parse_timestamp

# Without one of these an object goes at once, and its dependents after it, in the background.
PROPAGATION_FINALIZERS = {"Orphan": ORPHAN_FINALIZER, "Foreground": FOREGROUND_FINALIZER}
# Deleting one of these answers with the object, of others with a Status.
ANSWERED_WITH_OBJECT = frozenset({"Pod", "PersistentVolume", "PersistentVolumeClaim", "ServiceAccount"})


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
    if kind is NAMESPACE:
        return _departing_namespace(obj, now)
    grace_seconds = _grace_seconds(kind, obj, options)
    obj = _held_for_dependents(obj, options.propagation)
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata:
        going = _marked(obj, now + grace_seconds, grace_seconds)
        return None if may_vanish(going) else going
    pending_seconds = metadata.get("deletionGracePeriodSeconds", 0)
    # A deletion under way can be hastened, not delayed.
    if options.grace_seconds is None or grace_seconds >= pending_seconds:
        return None if may_vanish(obj) else obj
    since = parse_timestamp(metadata["deletionTimestamp"]) - pending_seconds
    going = _marked(obj, since + grace_seconds, grace_seconds)
    return None if may_vanish(going) else going


def may_vanish(obj: Json) -> bool:
    """Whether nothing holds an object any more that is being deleted."""
    metadata = obj["metadata"]
    return (
        "deletionTimestamp" in metadata
        and not metadata.get("deletionGracePeriodSeconds")
        and not metadata.get("finalizers")
        and not (obj["kind"] == NAMESPACE.name and obj.get("spec", {}).get("finalizers"))
    )


def deletion_answer(kind: Kind, gone: Json) -> Json:
    """What a client gets for an object that it deleted for good."""
    if kind.name in ANSWERED_WITH_OBJECT:
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


def _grace_seconds(kind: Kind, obj: Json, options: DeleteOptions) -> int:
    spec = obj.get("spec", {})
    is_running = spec.get("nodeName") and obj.get("status", {}).get("phase") not in ENDED_PHASES
    if kind is not POD or not is_running:
        return 0
    asked = options.grace_seconds
    if asked is None:
        asked = int(spec.get("terminationGracePeriodSeconds", GRACE_SECONDS))
    # As in Kubernetes a negative period means as soon as can be, but not by force.
    return min(asked, GRACE_SECONDS_MAX) if asked >= 0 else 1


def _departing_namespace(obj: Json, now: float) -> Json | None:
    if "deletionTimestamp" in obj["metadata"]:
        return None if may_vanish(obj) else obj
    going = _marked(obj, now, 0)
    going["status"] = {**obj.get("status", {}), "phase": "Terminating"}
    return None if may_vanish(going) else going


def _marked(obj: Json, deletion_time: float, grace_seconds: int) -> Json:
    metadata = {
        **obj["metadata"],
        "deletionTimestamp": format_timestamp(deletion_time),
        "deletionGracePeriodSeconds": grace_seconds,
    }
    if "generation" in metadata:
        metadata["generation"] += 1
    return {**obj, "metadata": metadata}
