"""What all Kubernetes objects share: metadata, references, conditions, label selectors.

`Shape` is the parent of every API struct. Attributes are the snake_case of the JSON names; every field has a
default, because what is required is decided by validation, not by decoding. Quantities and times stay raw
text here.
"""

from typing import Annotated, Any, dataclass_transform

import msgspec

from posse.model.constraints import (
    BLAMES_HOLDER,
    PRESENT,
    REQUIRED,
    KeyedBy,
    Keys,
    MaxBytes,
    Minimum,
    OneOf,
    Required,
)
from posse.model.formats import condition_reason, dns_subdomain, label_key, label_value, path_segment

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1, extra_json_schema={"format": "int32"})]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1, extra_json_schema={"format": "int64"})]
IntOrString = int | str
Timestamp = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
Quantity = str | int | float
Labels = Annotated[dict[str, str], Keys(label_key), label_value, BLAMES_HOLDER]
# What Kubernetes says of the operator of any selector.
OPERATOR_TEXT = "not a valid selector operator"


def merge_list(key: str, *, retain_keys: bool = False) -> msgspec.Meta:
    """Mark a list of objects that a strategic merge patch merges item by item, paired by the field `key`."""
    strategy = "merge,retainKeys" if retain_keys else "merge"
    return msgspec.Meta(
        extra_json_schema={"x-kubernetes-patch-merge-key": key, "x-kubernetes-patch-strategy": strategy}
    )


# A list of plain values that a strategic merge patch adds to instead of replacing.
MERGE_VALUES = msgspec.Meta(extra_json_schema={"x-kubernetes-patch-strategy": "merge"})

# An object that a strategic merge patch replaces whole instead of merging.
REPLACE = msgspec.Meta(extra_json_schema={"x-kubernetes-patch-strategy": "replace"})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Shape(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """A value made of JSON; it never refers back to itself, so the garbage collector need not look at it."""


class OwnerReference(Shape):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(Shape):
    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    self_link: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Timestamp = ""
    deletion_timestamp: Timestamp = ""
    deletion_grace_period_seconds: Int64 | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    owner_references: Annotated[tuple[OwnerReference, ...], merge_list("uid")] = ()
    finalizers: Annotated[tuple[str, ...], MERGE_VALUES] = ()
    managed_fields: tuple[Any, ...] = ()


class ApiObject(Shape):
    """What every object of the API begins with, whatever its kind."""

    api_version: Annotated[
        str, msgspec.Meta(description="Group and version of the API this object is written in.")
    ] = ""
    kind: Annotated[str, msgspec.Meta(description="What this object is.")] = ""
    metadata: Annotated[
        ObjectMeta, msgspec.Meta(description="Name, labels and what else all objects have in common.")
    ] = ObjectMeta()


class GroupObject(ApiObject):
    """An object that describes one group of pods, in whichever API."""


class ListMeta(Shape):
    self_link: str = ""
    resource_version: str = ""
    continue_token: str = msgspec.field(default="", name="continue")
    remaining_item_count: Int64 | None = None
    shard_info: Any = None


CONDITION_STATUSES = ("True", "False", "Unknown")


class Condition(Shape):
    type: Annotated[str, PRESENT, label_key] = ""
    status: Annotated[str, PRESENT, OneOf(CONDITION_STATUSES)] = ""
    observed_generation: Annotated[Int64, Minimum(0, "must be greater than or equal to zero")] = 0
    last_transition_time: Annotated[Timestamp, Required("must be set")] = ""
    reason: Annotated[str, Required("must be set"), condition_reason, MaxBytes(1024)] = ""
    message: Annotated[str, MaxBytes(32768)] = ""


Conditions = Annotated[tuple[Condition, ...], merge_list("type"), KeyedBy("type", blames_key=True)]


class LabelSelectorRequirement(Shape):
    key: Annotated[str, PRESENT, label_key] = ""
    operator: Annotated[str, OneOf(("In", "NotIn", "Exists", "DoesNotExist"), text=OPERATOR_TEXT)] = ""
    values: Annotated[tuple[str, ...], label_value] = ()


class LabelSelector(Shape):
    match_labels: Labels = msgspec.field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class ObjectReference(Shape):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""


class LocalObjectReference(Shape):
    name: str = ""


class TypedLocalObjectReference(Shape):
    api_group: Annotated[str, dns_subdomain] = ""
    kind: Annotated[str, REQUIRED, path_segment] = ""
    name: Annotated[str, REQUIRED, path_segment] = ""


class TypedObjectReference(Shape):
    api_group: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
