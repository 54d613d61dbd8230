"""Event: a report about an object, in the two forms Kubernetes serves (core/v1 and events.k8s.io/v1).

Servers write null for unset times of events, hence the `None` in their types.
"""

from posse.model.meta import ApiObject, Int32, ObjectReference, Shape, Timestamp


class EventSource(Shape):
    component: str = ""
    host: str = ""


class EventSeries(Shape):
    count: Int32 = 0
    last_observed_time: Timestamp | None = None


class Event(ApiObject):
    """A report about an object, as core/v1 writes it."""

    involved_object: ObjectReference = ObjectReference()
    reason: str = ""
    message: str = ""
    source: EventSource = EventSource()
    first_timestamp: Timestamp | None = None
    last_timestamp: Timestamp | None = None
    count: Int32 = 0
    type: str = ""
    event_time: Timestamp | None = None
    series: EventSeries | None = None
    action: str = ""
    related: ObjectReference | None = None
    reporting_component: str = ""
    reporting_instance: str = ""


class EventsEvent(ApiObject):
    """A report about an object, as events.k8s.io/v1 writes it."""

    event_time: Timestamp | None = None
    series: EventSeries | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""
    action: str = ""
    reason: str = ""
    regarding: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    note: str = ""
    type: str = ""
    deprecated_source: EventSource = EventSource()
    deprecated_first_timestamp: Timestamp | None = None
    deprecated_last_timestamp: Timestamp | None = None
    deprecated_count: Int32 = 0
