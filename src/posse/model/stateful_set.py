"""StatefulSet: pods with a number each, made and replaced in order; and ControllerRevision, what they were made from once."""

from typing import Annotated, Any

from msgspec import Meta

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
        Int32 | None, Meta(description="Pods with lower numbers, counted from the first, stay as they are.")
    ] = None
    max_unavailable: Annotated[
        IntOrString | None, Meta(description="How many pods may be away at once while others are replaced.")
    ] = None


class StatefulSetUpdateStrategy(Shape):
    type: Annotated[str, Meta(description="RollingUpdate or OnDelete.")] = ""
    rolling_update: RollingUpdateStatefulSetStrategy | None = None


class StatefulSetPersistentVolumeClaimRetentionPolicy(Shape):
    when_deleted: str = ""
    when_scaled: str = ""


class StatefulSetOrdinals(Shape):
    start: Annotated[Int32, Meta(description="The number of the first pod.")] = 0


class StatefulSetSpec(Shape):
    replicas: Annotated[Int32 | None, Meta(description="How many pods there are to be.")] = None
    selector: LabelSelector | None = None
    template: Annotated[PodTemplateSpec, Meta(description="What the pods are made from.")] = PodTemplateSpec()
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()
    service_name: Annotated[str, Meta(description="The headless Service that names the pods.")] = ""
    pod_management_policy: Annotated[str, Meta(description="OrderedReady or Parallel.")] = ""
    update_strategy: StatefulSetUpdateStrategy = StatefulSetUpdateStrategy()
    revision_history_limit: Int32 | None = None
    min_ready_seconds: Int32 = 0
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
    observed_generation: Int64 = 0
    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    current_replicas: Int32 = 0
    updated_replicas: Int32 = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: Int32 | None = None
    conditions: Annotated[tuple[StatefulSetCondition, ...], merge_list("type")] = ()
    available_replicas: Int32 = 0


class StatefulSet(ApiObject):
    """Pods that differ by a number, each with a name that outlives it."""

    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class ControllerRevision(ApiObject):
    """What a controller made its objects from at one time. It never changes, except for its number."""

    data: Any = None
    revision: Int64 = 0
