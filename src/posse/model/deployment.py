"""Deployment and ReplicaSet: equal pods, and how they are replaced when their template changes."""

from typing import Annotated

from msgspec import Meta

from posse.model.constraints import OPAQUE, REQUIRED, SHARE, Immutable, Minimum, OneOf
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
from posse.model.stateful_set import ROLLING_UPDATE

RECREATE = "Recreate"

GANG = "scheduling.posse.dev/gang"
"""Annotation of the pod template that asks for a gang: how many pods must start together, or all of them."""
GANG_OF_ALL = "all"

Count = Annotated[Int32, Minimum(0)]
Replicas = Annotated[Int32 | None, Minimum(0), Meta(description="How many pods there are to be. Default 1.")]
MinReadySeconds = Annotated[
    Int32, Minimum(0), Meta(description="How long a pod must be ready to count as available.")
]
Template = Annotated[PodTemplateSpec, OPAQUE, Meta(description="What the pods are made from.")]
Selector = Annotated[
    LabelSelector | None,
    REQUIRED,
    Immutable(shows_value=True),
    Meta(description="Which pods belong to it; the labels of the template must match."),
]


class ReplicaSetSpec(Shape):
    replicas: Replicas = None
    min_ready_seconds: MinReadySeconds = 0
    selector: Selector = None
    template: Template = PodTemplateSpec()


class ReplicaSetCondition(Shape):
    type: str = ""
    status: str = ""
    last_transition_time: Timestamp = ""
    reason: str = ""
    message: str = ""


class ReplicaSetStatus(Shape):
    replicas: Count = 0
    fully_labeled_replicas: Count = 0
    ready_replicas: Count = 0
    available_replicas: Count = 0
    terminating_replicas: Int32 | None = None
    observed_generation: Annotated[Int64, Minimum(0)] = 0
    conditions: Annotated[tuple[ReplicaSetCondition, ...], merge_list("type")] = ()


class ReplicaSet(ApiObject):
    """Keeps a number of equal pods."""

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class RollingUpdateDeployment(Shape):
    max_unavailable: Annotated[
        IntOrString | None,
        SHARE,
        Meta(
            description="How many pods may be away during an update: a number or a percentage, rounded down."
        ),
    ] = None
    max_surge: Annotated[
        IntOrString | None,
        SHARE,
        Meta(
            description="Pods beyond the wanted ones during an update: a number, or a percentage, rounded up."
        ),
    ] = None


class DeploymentStrategy(Shape):
    type: Annotated[
        str, OneOf((ROLLING_UPDATE, RECREATE)), Meta(description="RollingUpdate or Recreate.")
    ] = ""
    rolling_update: RollingUpdateDeployment | None = None


class DeploymentSpec(Shape):
    replicas: Replicas = None
    selector: Selector = None
    template: Template = PodTemplateSpec()
    strategy: Annotated[DeploymentStrategy, Meta(description="How old pods are replaced by new ones.")] = (
        DeploymentStrategy()
    )
    min_ready_seconds: MinReadySeconds = 0
    revision_history_limit: Annotated[
        Int32 | None, Minimum(0), Meta(description="How many old ReplicaSets are kept. Default 10.")
    ] = None
    paused: Annotated[bool, Meta(description="Whether changes of the template wait.")] = False
    progress_deadline_seconds: Annotated[
        Int32 | None,
        Minimum(0),
        Meta(description="After how long an update that does not advance counts as failed. Default 600."),
    ] = None

    @property
    def wanted(self) -> int:
        return 1 if self.replicas is None else self.replicas


class DeploymentCondition(Shape):
    type: str = ""
    status: str = ""
    last_update_time: Timestamp = ""
    last_transition_time: Timestamp = ""
    reason: str = ""
    message: str = ""


class DeploymentStatus(Shape):
    observed_generation: Annotated[Int64, Minimum(0)] = 0
    replicas: Count = 0
    updated_replicas: Count = 0
    ready_replicas: Count = 0
    available_replicas: Count = 0
    unavailable_replicas: Count = 0
    terminating_replicas: Int32 | None = None
    conditions: Annotated[tuple[DeploymentCondition, ...], merge_list("type")] = ()
    collision_count: Int32 | None = None


class Deployment(ApiObject):
    """Keeps a number of equal pods, and replaces them step by step when their template changes."""

    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()
