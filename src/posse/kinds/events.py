"""Rules for Event: it lives in the namespace of the object it is about; what it says is the reporter's business."""

from posse.kinds.errors import FieldError
from posse.kinds.kind import Rules
from posse.kinds.metadata import metadata_errors, object_update_errors
from posse.model.event import Event

# Where events about objects without a namespace are kept.
CLUSTER_EVENT_NAMESPACES = ("default", "kube-system")


def validate(event: Event) -> list[FieldError]:
    errors = metadata_errors(event.metadata, namespaced=True)
    about = event.involved_object.namespace
    allowed = (about,) if about else CLUSTER_EVENT_NAMESPACES
    if event.metadata.namespace not in allowed:
        errors.append(FieldError.invalid("involvedObject.namespace", about, "does not match event.namespace"))
    return errors


RULES = Rules(validate=validate, validate_update=object_update_errors)
