"""Namespace: the room names are unique in."""

from typing import Annotated

from posse.model.meta import ApiObject, Shape, Timestamp, merge_list


class NamespaceSpec(Shape):
    finalizers: tuple[str, ...] = ()


class NamespaceCondition(Shape):
    type: str = ""
    status: str = ""
    last_transition_time: Timestamp = ""
    reason: str = ""
    message: str = ""


class NamespaceStatus(Shape):
    phase: str = ""
    conditions: Annotated[tuple[NamespaceCondition, ...], merge_list("type")] = ()


class Namespace(ApiObject):
    """A room in which names are unique."""

    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()
