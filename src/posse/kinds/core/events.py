"""Rules for Event: it lives in the namespace of the object it is about, and one with an eventTime says who reports what was
done. The rest is the reporter's business.
"""

from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import KindRules
from posse.kinds.machinery.metadata import metadata_errors, object_update_errors
from posse.model.event import Event

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
