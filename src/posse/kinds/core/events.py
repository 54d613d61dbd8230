"""Rules for Event: it lives in the namespace of the object it is about, and one with an eventTime says who
reports what was done. The rest is the reporter's business.
"""

from posse.kinds.columns import name_cell, value_at
from posse.kinds.machinery.durations import since
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn
from posse.kinds.machinery.metadata import metadata_errors, object_update_errors
from posse.model.event import Event, EventsEvent

# Where events about objects without a namespace are kept.
CLUSTER_EVENT_NAMESPACES = ("default", "kube-system")


def validate(event: Event) -> list[FieldError]:
    errors = metadata_errors(event.metadata, namespaced=True)
    about = event.involved_object.namespace
    allowed = (about,) if about else CLUSTER_EVENT_NAMESPACES
    if event.metadata.namespace not in allowed:
        errors.append(FieldError.invalid("involvedObject.namespace", about, "does not match event.namespace"))
    return errors + _origin_errors(event)


def _origin_errors(event: Event) -> list[FieldError]:
    if event.event_time is None:
        return []
    origin = {
        "reportingComponent": event.reporting_component,
        "reportingInstance": event.reporting_instance,
        "action": event.action,
    }
    return [FieldError.required(field) for field, value in origin.items() if not value]


RULES = KindRules(validate=validate, validate_update=object_update_errors)


def _event_first_seen(event: Json, now: float) -> str:
    return since(event.get("firstTimestamp") or event.get("eventTime"), now)


def _event_last_seen(event: Json, now: float) -> str:
    series = event.get("series") or {}
    moment = series.get("lastObservedTime") or event.get("lastTimestamp")
    return since(moment, now) if moment else _event_first_seen(event, now)


def _event_object(event: Json, _now: float) -> str:
    about = event.get("involvedObject") or {}
    kind, name = str(about.get("kind") or "").lower(), about.get("name") or ""
    return f"{kind}/{name}" if name else kind


def _event_source(event: Json, _now: float) -> str:
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent") or ""
    host = source.get("host") or event.get("reportingInstance") or ""
    return f"{component}, {host}" if host else component


def _event_count(event: Json, _now: float) -> int:
    return (event.get("series") or {}).get("count") or event.get("count") or 1


def _event_message(event: Json, _now: float) -> str:
    return str(event.get("message") or "").strip()


EVENT_COLUMNS = (
    PrintedColumn("Last Seen", "string", "Time since it happened last.", 0, _event_last_seen),
    PrintedColumn("Type", "string", "Normal or Warning.", 0, value_at("type", absent="")),
    PrintedColumn("Reason", "string", "Why, in one word.", 0, value_at("reason", absent="")),
    PrintedColumn("Object", "string", "Object it is about.", 0, _event_object),
    PrintedColumn(
        "Subobject", "string", "Part it is about.", 1, value_at("involvedObject", "fieldPath", absent="")
    ),
    PrintedColumn("Source", "string", "Who reported it.", 1, _event_source),
    PrintedColumn("Message", "string", "What happened.", 0, _event_message),
    PrintedColumn("First Seen", "string", "Time since it happened first.", 1, _event_first_seen),
    PrintedColumn("Count", "integer", "How often it happened.", 1, _event_count),
    PrintedColumn("Name", "string", "Name of the event.", 1, name_cell, "name"),
)

EVENT = Kind(
    name="Event",
    plural="events",
    struct=Event,
    rules=RULES,
    columns=EVENT_COLUMNS,
    short_names=("ev",),
    selectable_fields=(
        "involvedObject.apiVersion",
        "involvedObject.fieldPath",
        "involvedObject.kind",
        "involvedObject.name",
        "involvedObject.namespace",
        "involvedObject.resourceVersion",
        "involvedObject.uid",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
)

EVENT_VIEW = Kind(
    name="Event",
    plural="events",
    group="events.k8s.io",
    struct=EventsEvent,
    rules=EVENT.rules,
    columns=EVENT.columns,
    short_names=("ev",),
    selectable_fields=EVENT.selectable_fields,
    view_of=EVENT,
)
