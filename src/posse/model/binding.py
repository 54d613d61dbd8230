"""Binding: the decision that a pod runs on a node, as sent to the API."""

from posse.model.meta import ApiObject, ObjectReference


class Binding(ApiObject):
    """Ties the pod named in the metadata to the node named in the target."""

    target: ObjectReference = ObjectReference()
