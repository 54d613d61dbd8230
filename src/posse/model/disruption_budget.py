"""PodDisruptionBudget: how many of a set of pods must stay up when others are moved."""

from typing import Annotated

import msgspec

from posse.model.meta import (
    REPLACE,
    ApiObject,
    Condition,
    Int32,
    Int64,
    IntOrString,
    LabelSelector,
    Shape,
    Timestamp,
    merge_list,
)


class PodDisruptionBudgetSpec(Shape):
    min_available: IntOrString | None = None
    # Absent matches no pod, empty matches every pod of the namespace.
    selector: Annotated[LabelSelector | None, REPLACE] = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Shape):
    observed_generation: Int64 = 0
    disrupted_pods: dict[str, Timestamp] = msgspec.field(default_factory=dict)
    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    conditions: Annotated[tuple[Condition, ...], merge_list("type")] = ()


class PodDisruptionBudget(ApiObject):
    """Limits how many of the selected pods may be disrupted at once."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
