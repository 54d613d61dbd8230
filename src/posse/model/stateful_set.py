"""StatefulSet: pods with a number each, made and replaced in order; and ControllerRevision, what they were
made from once.
"""

from typing import Annotated, Any

from msgspec import Meta

from posse.model.constraints import OPAQUE, REQUIRED, SHARE, Immutable, Minimum, OneOf, Required
from posse.model.meta import (
    ApiObject,
    Int32,
    Int64,
    IntOrString,
    LabelSelector,
    Shape,
    Timestamp,
    merge_list,
)
from posse.model.pod import PodTemplateSpec
from posse.model.volume import PersistentVolumeClaim

ORDERED_READY = "OrderedReady"
PARALLEL = "Parallel"

ROLLING_UPDATE = "RollingUpdate"
ON_DELETE = "OnDelete"

RETAIN = "Retain"
DELETE = "Delete"


class RollingUpdateStatefulSetStrategy(Shape):
    partition: Annotated[
        Int32 | None,
        Minimum(0),
        Meta(description="Pods with lower numbers, counted from the first, stay as they are."),
    ] = None
    max_unavailable: Annotated[
        IntOrString | None,
        SHARE,
        Meta(description="How many pods may be away at once while others are replaced."),
    ] = None


class StatefulSetUpdateStrategy(Shape):
    type: Annotated[
        str, OneOf((ROLLING_UPDATE, ON_DELETE)), Meta(description="RollingUpdate or OnDelete.")
    ] = ""
    rolling_update: RollingUpdateStatefulSetStrategy | None = None


class StatefulSetPersistentVolumeClaimRetentionPolicy(Shape):
    when_deleted: Annotated[str, OneOf((RETAIN, DELETE), unlisted=("",))] = ""
    when_scaled: Annotated[str, OneOf((RETAIN, DELETE), unlisted=("",))] = ""


class StatefulSetOrdinals(Shape):
    start: Annotated[Int32, Minimum(0), Meta(description="The number of the first pod.")] = 0


class StatefulSetSpec(Shape):
    replicas: Annotated[Int32 | None, Minimum(0), Meta(description="How many pods there are to be.")] = None
    selector: Annotated[LabelSelector | None, REQUIRED] = None
    template: Annotated[PodTemplateSpec, OPAQUE, Meta(description="What the pods are made from.")] = (
        PodTemplateSpec()
    )
    volume_claim_templates: Annotated[tuple[PersistentVolumeClaim, ...], OPAQUE] = ()
    service_name: Annotated[str, Meta(description="The headless Service that names the pods.")] = ""
    pod_management_policy: Annotated[
        str, OneOf((ORDERED_READY, PARALLEL)), Meta(description="OrderedReady or Parallel.")
    ] = ""
    update_strategy: StatefulSetUpdateStrategy = StatefulSetUpdateStrategy()
    revision_history_limit: Annotated[Int32 | None, Minimum(0)] = None
    min_ready_seconds: Annotated[Int32, Minimum(0)] = 0
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None
    ordinals: StatefulSetOrdinals | None = None

    @property
    def start(self) -> int:
        return self.ordinals.start if self.ordinals is not None else 0

    @property
    def wanted(self) -> int:
        return 1 if self.replicas is None else self.replicas

    @property
    def partition(self) -> int:
        """How many pods, counted from the first, are left as they are by an update."""
        rolling = self.update_strategy.rolling_update
        is_rolling = self.update_strategy.type == ROLLING_UPDATE
        return (rolling.partition or 0) if is_rolling and rolling is not None else 0


class StatefulSetCondition(Shape):
    type: str = ""
    status: str = ""
    last_transition_time: Timestamp = ""
    reason: str = ""
    message: str = ""


class StatefulSetStatus(Shape):
    observed_generation: Annotated[Int64, Minimum(0)] = 0
    replicas: Annotated[Int32, Minimum(0)] = 0
    ready_replicas: Annotated[Int32, Minimum(0)] = 0
    current_replicas: Annotated[Int32, Minimum(0)] = 0
    updated_replicas: Annotated[Int32, Minimum(0)] = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: Int32 | None = None
    conditions: Annotated[tuple[StatefulSetCondition, ...], merge_list("type")] = ()
    available_replicas: Annotated[Int32, Minimum(0)] = 0


class StatefulSet(ApiObject):
    """Pods that differ by a number, each with a name that outlives it."""

    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class ControllerRevision(ApiObject):
    """What a controller made its objects from at one time. It never changes, except for its number."""

    data: Annotated[Any, Required("data is mandatory"), Immutable(shows_value=True)] = None
    revision: Annotated[Int64, Minimum(0)] = 0
