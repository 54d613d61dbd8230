"""Devices as drivers publish them in ResourceSlices (resource.k8s.io), and the taints that keep pods away
from them.

A qualified name is `id` or `domain/id`; without a domain it belongs to the domain of the driver. Texts for
quantities stay raw here.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from posse.model.constraints import IMMUTABLE, PRESENT, REQUIRED, MaxItems, OneOf
from posse.model.formats import label_key, label_value
from posse.model.meta import ApiObject, Conditions, Int64, Quantity, Shape, Timestamp
from posse.model.placement import NodeSelector

DEVICES_MAX = 128
DEVICES_MAX_ADVANCED = 64
"""The limit for a slice in which a device has taints, consumes counters, or has an attribute with a list."""
COUNTER_SETS_MAX = 8
COUNTERS_MAX = 32
"""Of one set, and of what a device consumes of one set."""
CONSUMED_SETS_MAX = 2
ATTRIBUTES_AND_CAPACITIES_MAX = 32
BINDING_CONDITIONS_MAX = 4
TAINTS_MAX = 16
RULE_CONDITIONS_MAX = 8

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
TAINT_EFFECTS = ("None", NO_SCHEDULE, NO_EXECUTE)
"""A taint with the effect None is for information only."""


class ResourcePool(Shape):
    """The pool that a slice is a part of. Only slices of its highest generation count, and only if all are
    there.
    """

    name: Annotated[str, PRESENT, Meta(description="Name of the pool; often that of the node.")] = ""
    generation: Annotated[Int64, Meta(description="Increased with every change of the pool.")] = 0
    resource_slice_count: Annotated[
        Int64, PRESENT, Meta(description="How many slices the pool has in this generation; at least 1.")
    ] = 0


class Counter(Shape):
    value: Annotated[Quantity, PRESENT, Meta(description="How much there is, or how much is consumed.")] = ""


class CounterSet(Shape):
    """What partitions of one physical device share, such as its memory slices."""

    name: Annotated[str, PRESENT] = ""
    counters: dict[str, Counter] = msgspec.field(default_factory=dict)


class DeviceCounterConsumption(Shape):
    counter_set: Annotated[str, PRESENT, Meta(description="Name of a set in sharedCounters of the pool.")] = (
        ""
    )
    counters: dict[str, Counter] = msgspec.field(default_factory=dict)
    compatibility_groups: tuple[str, ...] = ()


class DeviceAttribute(Shape):
    """Exactly one of the members is set."""

    int_value: Int64 | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")
    int_values: tuple[Int64, ...] = msgspec.field(default=(), name="ints")
    bool_values: tuple[bool, ...] = msgspec.field(default=(), name="bools")
    string_values: tuple[str, ...] = msgspec.field(default=(), name="strings")
    version_values: tuple[str, ...] = msgspec.field(default=(), name="versions")


class CapacityRequestPolicyRange(Shape):
    """A request is rounded up to `min`, then to a multiple of `step` above it, and may not exceed `max`."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(Shape):
    """How much of a capacity one claim consumes of a device that several claims share."""

    default: Annotated[Quantity | None, Meta(description="Consumed by claims that request nothing.")] = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Shape):
    value: Annotated[Quantity, PRESENT] = ""
    request_policy: Annotated[
        CapacityRequestPolicy | None, Meta(description="Only for a device with allowMultipleAllocations.")
    ] = None


class DeviceTaint(Shape):
    key: Annotated[str, REQUIRED, label_key] = ""
    value: Annotated[str, label_value] = ""
    effect: Annotated[
        str,
        REQUIRED,
        OneOf(TAINT_EFFECTS),
        Meta(description="None, NoSchedule, or NoExecute, which also evicts pods that use the device."),
    ] = ""
    time_added: Timestamp = ""


class Device(Shape):
    """One device, or one partition of a device, with all that claims can select it by."""

    name: Annotated[str, PRESENT, Meta(description="Unique within the pool.")] = ""
    attributes: dict[str, DeviceAttribute] = msgspec.field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = msgspec.field(default_factory=dict)
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: Annotated[
        bool | None, Meta(description="A claim with this device can be used on the chosen node only.")
    ] = None
    binding_conditions: Annotated[
        tuple[str, ...],
        Meta(description="The pod is bound once its driver has set all of these in the claim's status."),
    ] = ()
    binding_failure_conditions: Annotated[
        tuple[str, ...], Meta(description="One of these in the claim's status ends the wait: it failed.")
    ] = ()
    allow_multiple_allocations: Annotated[
        bool | None,
        Meta(description="Several claims may share the device, each with a part of its capacity."),
    ] = None
    node_allocatable_resources: dict[str, Any] = msgspec.field(default_factory=dict)


class ResourceSliceSpec(Shape):
    """One of nodeName, nodeSelector, allNodes and perDeviceNodeSelection says where the devices are."""

    driver: Annotated[str, PRESENT, IMMUTABLE, Meta(description="The driver that publishes the slice.")] = ""
    pool: Annotated[ResourcePool, PRESENT] = ResourcePool()
    node_name: Annotated[
        str | None, Meta(description="The only node from which the devices can be used.")
    ] = None
    node_selector: Annotated[
        NodeSelector | None, Meta(description="The nodes from which the devices can be used; one term.")
    ] = None
    all_nodes: Annotated[bool | None, Meta(description="The devices can be used from every node.")] = None
    devices: tuple[Device, ...] = ()
    per_device_node_selection: Annotated[
        bool | None, Meta(description="Each device says itself from which nodes it can be used.")
    ] = None
    shared_counters: Annotated[
        tuple[CounterSet, ...],
        Meta(description="Sets that devices of the pool consume; in slices without devices."),
    ] = ()
    partition_type_attribute: str | None = None
    skip_node_operations: tuple[str, ...] = ()


class ResourceSlice(ApiObject):
    """Devices that one driver offers, as a part of a pool."""

    spec: Annotated[
        ResourceSliceSpec, PRESENT, Meta(description="Where the devices are, and what they are.")
    ] = ResourceSliceSpec()


class DeviceTaintSelector(Shape):
    """Selects devices that agree with all fields that are set; with none set, all devices."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(Shape):
    device_selector: Annotated[
        DeviceTaintSelector | None, Meta(description="The devices that get the taint; without it, none.")
    ] = None
    taint: Annotated[DeviceTaint, PRESENT] = DeviceTaint()


class DeviceTaintRuleStatus(Shape):
    conditions: Annotated[
        Conditions,
        MaxItems(RULE_CONDITIONS_MAX),
        Meta(description="EvictionInProgress says how many pods are still to be evicted."),
    ] = ()


class DeviceTaintRule(ApiObject):
    """Adds one taint to all devices that match, whatever their slices say."""

    spec: Annotated[DeviceTaintRuleSpec, PRESENT, Meta(description="Which devices get which taint.")] = (
        DeviceTaintRuleSpec()
    )
    status: Annotated[DeviceTaintRuleStatus, Meta(description="What has come of it.")] = (
        DeviceTaintRuleStatus()
    )
