"""ResourceQuota and LimitRange: how much a namespace may hold, and how much one pod or container."""

from typing import Annotated

import msgspec
from msgspec import Meta

from posse.model.constraints import AMOUNTS, BLAMES_HOLDER, PRESENT, Immutable, OneOf
from posse.model.formats import Format
from posse.model.meta import ApiObject, Quantity, Shape

TERMINATING = "Terminating"
NOT_TERMINATING = "NotTerminating"
BEST_EFFORT = "BestEffort"
NOT_BEST_EFFORT = "NotBestEffort"
PRIORITY_CLASS = "PriorityClass"

CONTAINER = "Container"
POD = "Pod"
CLAIM = "PersistentVolumeClaim"

SCOPES = OneOf(
    (TERMINATING, NOT_TERMINATING, BEST_EFFORT, NOT_BEST_EFFORT, PRIORITY_CLASS), text="unsupported scope"
)
Amounts = Annotated[dict[str, Quantity], AMOUNTS]


def _limit_type_problems(text: str) -> list[str]:
    is_known = text in (CONTAINER, POD, CLAIM) or "/" in text
    return [] if is_known else ["must be a standard limit type or fully qualified"]


limit_type = Format(_limit_type_problems, f"{CONTAINER}|{POD}|{CLAIM}|.*/.*", 0)


class ScopedResourceSelectorRequirement(Shape):
    scope_name: Annotated[
        str, SCOPES, Meta(description="The scope: Terminating, BestEffort, PriorityClass ...")
    ] = ""
    operator: Annotated[
        str,
        OneOf(("In", "NotIn", "Exists", "DoesNotExist")),
        Meta(description="In, NotIn, Exists or DoesNotExist."),
    ] = ""
    values: Annotated[tuple[str, ...], Meta(description="Names of priority classes.")] = ()


class ScopeSelector(Shape):
    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


class ResourceQuotaSpec(Shape):
    hard: Annotated[Amounts, Meta(description="How much the namespace may hold of each resource.")] = (
        msgspec.field(default_factory=dict)
    )
    scopes: Annotated[
        tuple[str, ...],
        Immutable(),
        SCOPES,
        BLAMES_HOLDER,
        Meta(description="Only pods that all of these fit are counted."),
    ] = ()
    scope_selector: Annotated[
        ScopeSelector | None, Meta(description="Like scopes, with operators and values.")
    ] = None


class ResourceQuotaStatus(Shape):
    hard: dict[str, Quantity] = msgspec.field(default_factory=dict)
    used: dict[str, Quantity] = msgspec.field(default_factory=dict)


class ResourceQuota(ApiObject):
    """Bounds what the objects of a namespace may hold together."""

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class LimitRangeItem(Shape):
    type: Annotated[
        str, PRESENT, limit_type, Meta(description="Container, Pod or PersistentVolumeClaim.")
    ] = ""
    max: Annotated[Amounts, Meta(description="Upper bounds of limits.")] = msgspec.field(default_factory=dict)
    min: Annotated[Amounts, Meta(description="Lower bounds of requests.")] = msgspec.field(
        default_factory=dict
    )
    default: Annotated[Amounts, Meta(description="Limits of containers that have none.")] = msgspec.field(
        default_factory=dict
    )
    default_request: Annotated[Amounts, Meta(description="Requests of containers that have none.")] = (
        msgspec.field(default_factory=dict)
    )
    max_limit_request_ratio: Annotated[
        Amounts, Meta(description="How many times its request a limit may be, at most.")
    ] = msgspec.field(default_factory=dict)


class LimitRangeSpec(Shape):
    limits: Annotated[tuple[LimitRangeItem, ...], Meta(description="The bounds, by type.")] = ()


class LimitRange(ApiObject):
    """Bounds and defaults for the pods, containers and claims of a namespace."""

    spec: LimitRangeSpec = LimitRangeSpec()
