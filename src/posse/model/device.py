"""Devices as drivers publish them in ResourceSlices (resource.k8s.io), and the taints that keep pods away
from them.

A qualified name is `id` or `domain/id`; without a domain it belongs to the domain of the driver. Texts for
quantities stay raw here.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from posse.model.constraints import (
    ONLY_TRUE,
    PRESENT,
    QUANTITY,
    REQUIRED,
    UNIQUE,
    Immutable,
    KeyedBy,
    Keys,
    MaxBytes,
    MaxItems,
    Minimum,
    NotEmpty,
    OneOf,
    Parts,
    QualifiedName,
    UnionMember,
)
from posse.model.device_formats import DRIVER_BYTES_MAX, driver_name, semantic_version
from posse.model.formats import dns_label, dns_subdomain, label_key, label_value
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
POOL_BYTES_MAX = 253
ATTRIBUTE_BYTES_MAX = 64

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
TAINT_EFFECTS = ("None", NO_SCHEDULE, NO_EXECUTE)
"""A taint with the effect None is for information only."""

QUALIFIED_KEYS = Keys(QualifiedName(), blames_map=True)
# No two items have the same name; said last, and with the name.
NAMED = KeyedBy("name", shows_key=True, is_last=True)
DriverName = Annotated[str, REQUIRED, MaxBytes(DRIVER_BYTES_MAX), driver_name]
PoolName = Annotated[str, REQUIRED, MaxBytes(POOL_BYTES_MAX), Parts(dns_subdomain)]
DeviceName = Annotated[str, PRESENT, dns_label]
BindingConditions = Annotated[tuple[str, ...], MaxItems(BINDING_CONDITIONS_MAX), UNIQUE, label_key]
_FIXED = Immutable(shows_value=True)
_ONE_VALUE = "exactly one value must be specified"
_Value = UnionMember(none_text=_ONE_VALUE, several_text=_ONE_VALUE, shows_empty_text=True)


class ResourcePool(Shape):
    """The pool that a slice is a part of. Only slices of its highest generation count, and only if all are
    there.
    """

    name: Annotated[PoolName, _FIXED, Meta(description="Name of the pool; often that of the node.")] = ""
    generation: Annotated[
        Int64,
        Minimum(0, "must be greater than or equal to zero"),
        Meta(description="Increased with every change of the pool."),
    ] = 0
    resource_slice_count: Annotated[
        Int64,
        PRESENT,
        Minimum(1, "must be greater than zero"),
        Meta(description="How many slices the pool has in this generation; at least 1."),
    ] = 0


class Counter(Shape):
    value: Annotated[
        Quantity, PRESENT, QUANTITY, Meta(description="How much there is, or how much is consumed.")
    ] = ""


Counters = Annotated[dict[str, Counter], REQUIRED, MaxItems(COUNTERS_MAX), Keys(dns_label, blames_map=True)]


class CounterSet(Shape):
    """What partitions of one physical device share, such as its memory slices."""

    name: Annotated[str, REQUIRED, dns_label] = ""
    counters: Counters = msgspec.field(default_factory=dict)


class DeviceCounterConsumption(Shape):
    counter_set: Annotated[
        str, REQUIRED, dns_label, Meta(description="Name of a set in sharedCounters of the pool.")
    ] = ""
    counters: Counters = msgspec.field(default_factory=dict)
    compatibility_groups: tuple[str, ...] = ()


class DeviceAttribute(Shape):
    """Exactly one of the members is set."""

    int_value: Annotated[Int64 | None, _Value] = msgspec.field(default=None, name="int")
    bool_value: Annotated[bool | None, _Value] = msgspec.field(default=None, name="bool")
    string_value: Annotated[str | None, _Value, MaxBytes(ATTRIBUTE_BYTES_MAX)] = msgspec.field(
        default=None, name="string"
    )
    version_value: Annotated[str | None, _Value, semantic_version, MaxBytes(ATTRIBUTE_BYTES_MAX)] = (
        msgspec.field(default=None, name="version")
    )
    int_values: Annotated[tuple[Int64, ...], _Value] = msgspec.field(default=(), name="ints")
    bool_values: Annotated[tuple[bool, ...], _Value] = msgspec.field(default=(), name="bools")
    string_values: Annotated[tuple[str, ...], _Value, MaxBytes(ATTRIBUTE_BYTES_MAX)] = msgspec.field(
        default=(), name="strings"
    )
    version_values: Annotated[tuple[str, ...], _Value, semantic_version, MaxBytes(ATTRIBUTE_BYTES_MAX)] = (
        msgspec.field(default=(), name="versions")
    )


class CapacityRequestPolicyRange(Shape):
    """A request is rounded up to `min`, then to a multiple of `step` above it, and may not exceed `max`."""

    min: Annotated[Quantity | None, QUANTITY] = None
    max: Annotated[Quantity | None, QUANTITY] = None
    step: Annotated[Quantity | None, QUANTITY] = None


class CapacityRequestPolicy(Shape):
    """How much of a capacity one claim consumes of a device that several claims share."""

    default: Annotated[
        Quantity | None, QUANTITY, Meta(description="Consumed by claims that request nothing.")
    ] = None
    valid_values: Annotated[tuple[Quantity, ...], QUANTITY] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Shape):
    value: Annotated[Quantity, PRESENT, QUANTITY] = ""
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

    name: Annotated[DeviceName, Meta(description="Unique within the pool.")] = ""
    attributes: Annotated[dict[str, DeviceAttribute], QUALIFIED_KEYS] = msgspec.field(default_factory=dict)
    capacity: Annotated[dict[str, DeviceCapacity], QUALIFIED_KEYS] = msgspec.field(default_factory=dict)
    consumes_counters: Annotated[
        tuple[DeviceCounterConsumption, ...],
        MaxItems(CONSUMED_SETS_MAX),
        KeyedBy("counterSet", shows_key=True, is_last=True),
    ] = ()
    node_name: Annotated[str | None, NotEmpty("must not be empty"), dns_subdomain] = None
    node_selector: NodeSelector | None = None
    all_nodes: Annotated[bool | None, ONLY_TRUE] = None
    taints: Annotated[tuple[DeviceTaint, ...], MaxItems(TAINTS_MAX)] = ()
    binds_to_node: Annotated[
        bool | None, Meta(description="A claim with this device can be used on the chosen node only.")
    ] = None
    binding_conditions: Annotated[
        BindingConditions,
        Meta(description="The pod is bound once its driver has set all of these in the claim's status."),
    ] = ()
    binding_failure_conditions: Annotated[
        BindingConditions, Meta(description="One of these in the claim's status ends the wait: it failed.")
    ] = ()
    allow_multiple_allocations: Annotated[
        bool | None,
        Meta(description="Several claims may share the device, each with a part of its capacity."),
    ] = None
    node_allocatable_resources: dict[str, Any] = msgspec.field(default_factory=dict)


class ResourceSliceSpec(Shape):
    """One of nodeName, nodeSelector, allNodes and perDeviceNodeSelection says where the devices are."""

    driver: Annotated[DriverName, _FIXED, Meta(description="The driver that publishes the slice.")] = ""
    pool: Annotated[ResourcePool, PRESENT] = ResourcePool()
    node_name: Annotated[
        str | None,
        _FIXED,
        NotEmpty("must be either unset or set to a non-empty string"),
        dns_subdomain,
        Meta(description="The only node from which the devices can be used."),
    ] = None
    node_selector: Annotated[
        NodeSelector | None, Meta(description="The nodes from which the devices can be used; one term.")
    ] = None
    all_nodes: Annotated[
        bool | None, ONLY_TRUE, Meta(description="The devices can be used from every node.")
    ] = None
    devices: Annotated[tuple[Device, ...], MaxItems(DEVICES_MAX), NAMED] = ()
    per_device_node_selection: Annotated[
        bool | None, ONLY_TRUE, Meta(description="Each device says itself from which nodes it can be used.")
    ] = None
    shared_counters: Annotated[
        tuple[CounterSet, ...],
        MaxItems(COUNTER_SETS_MAX),
        NAMED,
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

    driver: Annotated[str | None, NotEmpty(), MaxBytes(DRIVER_BYTES_MAX), driver_name] = None
    pool: Annotated[str | None, NotEmpty(), MaxBytes(POOL_BYTES_MAX), Parts(dns_subdomain)] = None
    device: Annotated[str | None, dns_label] = None


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
