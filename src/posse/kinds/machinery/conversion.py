"""Objects between the version a client speaks and the one form that is stored.

Most versions of a kind differ only in `apiVersion`; those that differ in shape say how in a Dialect. What a
version cannot express is kept from the stored object when it is written through that version. The two faces
of an Event differ in field names: core/v1 is stored, events.k8s.io/v1 is a view of it.
"""

from typing import Any

from posse.kinds.machinery.kind import Json, Kind
from posse.model.decoding import known_part

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


def version_of(obj: Json) -> str:
    return str(obj["apiVersion"]).rpartition("/")[2]


def to_version(kind: Kind, obj: Json, version: str) -> Json:
    """The stored object as a client of `kind` in `version` sees it."""
    dialect = kind.dialects.get(version)
    if dialect is not None:
        seen = known_part(dialect.struct, dialect.outgoing(obj))
    else:
        seen = _renamed(obj, CORE_EVENT_FIELDS if kind.view_of else {})
    return seen | {"apiVersion": kind.api_version_of(version), "kind": kind.name}


def to_storage(kind: Kind, obj: Json, old: Json | None = None) -> Json:
    """What a client of `kind` sent, in the form of `kind.stored`; `old` is the stored object it is to
    replace.
    """
    version = version_of(obj)
    dialect = kind.dialects.get(version)
    if dialect is not None:
        stored = dialect.incoming(known_part(dialect.struct, obj))
        if old is not None:
            survived = dialect.incoming(to_version(kind, old, version))
            stored = _with_lost(stored, old, survived)
    else:
        stored = _renamed(obj, EVENT_FIELDS if kind.view_of else {})
    return stored | {"apiVersion": kind.stored.api_version, "kind": kind.stored.name}


def _renamed(obj: Json, names: dict[str, str]) -> Json:
    return {names.get(field, field): value for field, value in obj.items()}


def _with_lost(new: Any, old: Any, survived: Any) -> Any:
    """Put back into `new` what `old` has and what did not survive the way to the other version and back."""
    if old == survived:
        return new
    if isinstance(new, dict) and isinstance(old, dict) and isinstance(survived, dict):
        merged = {name: _with_lost(item, old.get(name), survived.get(name)) for name, item in new.items()}
        lost = {name: item for name, item in old.items() if name not in survived and name not in new}
        return merged | lost
    if isinstance(new, list) and isinstance(old, list) and isinstance(survived, list):
        before = {_identity(item): (item, rest) for item, rest in zip(old, survived, strict=True)}
        return [_with_lost(item, *before.get(_identity(item), (item, item))) for item in new]
    return new


def _identity(item: Any) -> Any:
    """By what the items of a list are told apart; plain values have nothing to lose."""
    return (item.get("name"), item.get("type")) if isinstance(item, dict) else None
