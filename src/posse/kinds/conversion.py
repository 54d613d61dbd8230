"""Objects between the version a client speaks and the one form that is stored.

Versions of the scheduling kinds differ only in `apiVersion` so far. The two faces of an Event differ in field names:
core/v1 is stored, events.k8s.io/v1 is a view of it.
"""

from posse.kinds.kind import Json, Kind

# events.k8s.io name -> core name, at the top level of an Event.
EVENT_FIELDS = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
CORE_EVENT_FIELDS = {core: view for view, core in EVENT_FIELDS.items()}


def to_version(kind: Kind, obj: Json, version: str) -> Json:
    """The stored object as a client of `kind` in `version` sees it."""
    fields = CORE_EVENT_FIELDS if kind.view_of else {}
    return _renamed(obj, fields) | {"apiVersion": kind.api_version_of(version), "kind": kind.name}


def to_storage(kind: Kind, obj: Json) -> Json:
    """What a client of `kind` sent, in the form of `kind.stored`."""
    fields = EVENT_FIELDS if kind.view_of else {}
    return _renamed(obj, fields) | {"apiVersion": kind.stored.api_version, "kind": kind.stored.name}


def _renamed(obj: Json, names: dict[str, str]) -> Json:
    return {names.get(field, field): value for field, value in obj.items()}
