"""Binding: the decision that a pod runs on a node, as sent to the API."""

from posse.model.meta import ObjectMeta, ObjectReference, Shape


class Binding(Shape):
    """Ties the pod named in the metadata to the node named in the target."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    target: ObjectReference = ObjectReference()
