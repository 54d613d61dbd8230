"""PodGroup of Volcano (scheduling.volcano.sh/v1beta1). Pods join by the annotation
scheduling.k8s.io/group-name.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from posse.model.constraints import AMOUNTS, Minimum
from posse.model.formats import dns_subdomain
from posse.model.meta import GroupObject, Int32, Quantity, Shape, Timestamp, merge_list


class VolcanoPodGroupSpec(Shape):
    """How many pods start together, and what they need at least."""

    min_member: Annotated[
        Int32,
        Minimum(1),
        Meta(description="How many members must fit at once before any is bound; at least 1."),
    ] = 0
    min_task_member: Annotated[dict[str, Int32], Minimum(0)] = msgspec.field(default_factory=dict)
    queue: Annotated[str, dns_subdomain, Meta(description="Queue of Volcano. Kept; Posse has one queue.")] = (
        ""
    )
    priority_class_name: Annotated[str, dns_subdomain] = ""
    min_resources: Annotated[
        dict[str, Quantity],
        AMOUNTS,
        Meta(description="What must be free in the cluster before the group is tried."),
    ] = msgspec.field(default_factory=dict)
    network_topology: Any = None
    sub_group_policy: tuple[Any, ...] = ()


class PodGroupCondition(Shape):
    type: str = ""
    status: str = ""
    transition_id: str = msgspec.field(default="", name="transitionID")
    last_transition_time: Timestamp = ""
    reason: str = ""
    message: str = ""


class VolcanoPodGroupStatus(Shape):
    """How far the group has come."""

    phase: Annotated[
        str,
        Meta(description="Pending; Inqueue after a vain attempt, Running once it is placed, then Completed."),
    ] = ""
    conditions: Annotated[
        tuple[PodGroupCondition, ...],
        merge_list("type"),
        Meta(description="Scheduled and Unschedulable say whether the group has been placed, and why not."),
    ] = ()
    running: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0


class VolcanoPodGroup(GroupObject):
    """A set of pods that start together. Pods join by the annotation scheduling.k8s.io/group-name."""

    spec: VolcanoPodGroupSpec = VolcanoPodGroupSpec()
    status: VolcanoPodGroupStatus = VolcanoPodGroupStatus()
