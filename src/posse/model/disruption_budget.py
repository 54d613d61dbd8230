"""PodDisruptionBudget: how many of a set of pods must stay up when others are moved."""

from typing import Annotated

import msgspec

from posse.model.constraints import SHARE, Minimum, OneOf, UnionMember
from posse.model.meta import (
    REPLACE,
    ApiObject,
    Conditions,
    Int32,
    Int64,
    IntOrString,
    LabelSelector,
    Shape,
    Timestamp,
)

_Limit = UnionMember(
    is_optional=True,
    several_text="minAvailable and maxUnavailable cannot be both set",
    shows_value=True,
)


class PodDisruptionBudgetSpec(Shape):
    min_available: Annotated[IntOrString | None, SHARE, _Limit] = None
    # Absent matches no pod, empty matches every pod of the namespace.
    selector: Annotated[LabelSelector | None, REPLACE] = None
    max_unavailable: Annotated[IntOrString | None, SHARE, _Limit] = None
    unhealthy_pod_eviction_policy: Annotated[str | None, OneOf(("AlwaysAllow", "IfHealthyBudget"))] = None


class PodDisruptionBudgetStatus(Shape):
    observed_generation: Int64 = 0
    disrupted_pods: dict[str, Timestamp] = msgspec.field(default_factory=dict)
    disruptions_allowed: Annotated[Int32, Minimum(0)] = 0
    current_healthy: Annotated[Int32, Minimum(0)] = 0
    desired_healthy: Annotated[Int32, Minimum(0)] = 0
    expected_pods: Annotated[Int32, Minimum(0)] = 0
    conditions: Conditions = ()


class PodDisruptionBudget(ApiObject):
    """Limits how many of the selected pods may be disrupted at once."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
