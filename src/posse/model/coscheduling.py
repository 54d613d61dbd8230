"""PodGroup of the coscheduling plugin (scheduling.x-k8s.io/v1alpha1). Pods join by the label `pod-group` of
that group.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from posse.model.constraints import AMOUNTS, Minimum
from posse.model.meta import GroupObject, Int32, Quantity, Shape, Timestamp


class CoschedulingPodGroupSpec(Shape):
    """How many pods start together, and what they need at least."""

    min_member: Annotated[
        Int32,
        Minimum(1),
        Meta(description="How many members must fit at once before any is bound; at least 1."),
    ] = 0
    min_resources: Annotated[
        dict[str, Quantity],
        AMOUNTS,
        Meta(description="What must be free in the cluster before the group is tried."),
    ] = msgspec.field(default_factory=dict)
    schedule_timeout_seconds: Annotated[
        Int32 | None,
        Minimum(0),
        Meta(description="Accepted and not needed: a group that waits holds nothing."),
    ] = None


class CoschedulingPodGroupStatus(Shape):
    """How far the group has come."""

    phase: Annotated[
        str,
        Meta(description="Pending until the group is placed, then Scheduling, Running, Finished or Failed."),
    ] = ""
    occupied_by: str = ""
    scheduled: Int32 = 0
    running: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0
    schedule_start_time: Timestamp = ""


class CoschedulingPodGroup(GroupObject):
    """A set of pods that start together. Pods join by the label scheduling.x-k8s.io/pod-group."""

    spec: CoschedulingPodGroupSpec = CoschedulingPodGroupSpec()
    status: CoschedulingPodGroupStatus = CoschedulingPodGroupStatus()
