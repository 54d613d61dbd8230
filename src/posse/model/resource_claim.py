"""What pods ask of devices (resource.k8s.io): device classes, claims with the devices they were given, and
templates of claims.

A claim is allocated once and may then be used by every pod that it is reserved for.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from posse.model.constraints import (
    PRESENT,
    QUANTITY,
    REQUIRED,
    UNIQUE,
    Immutable,
    KeyedBy,
    MaxBytes,
    MaxItems,
    OneOf,
    QualifiedName,
    RawObject,
)
from posse.model.device import (
    NAMED,
    QUALIFIED_KEYS,
    TAINT_EFFECTS,
    BindingConditions,
    DeviceName,
    DriverName,
    PoolName,
)
from posse.model.device_formats import extended_resource, normalized_uid
from posse.model.formats import dns_label, dns_subdomain, label_key
from posse.model.meta import ApiObject, Condition, Int64, ObjectMeta, Quantity, Shape, Timestamp, merge_list
from posse.model.placement import NodeSelector

CLAIM_FINALIZER = "resource.kubernetes.io/delete-protection"
"""On claims that are allocated: they stay until no pod uses them."""
POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
"""On claims made from a template: the entry in resourceClaims of the owner."""
EXTENDED_RESOURCE_CLAIM_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
"""On claims made by a scheduler for the extended resources of a pod."""
ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"
"""On namespaces whose claims may ask for adminAccess."""
DEVICE_CLASS_RESOURCE_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Before the name of a class: the extended resource that every class has."""

REQUESTS_MAX = 32
ALTERNATIVES_MAX = 8
SELECTORS_MAX = 32
CONSTRAINTS_MAX = 32
CONFIGURATIONS_MAX = 32
TOLERATIONS_MAX = 16
RESULTS_MAX = 32
CONSUMERS_MAX = 256
DEVICE_CONDITIONS_MAX = 8
EXPRESSION_BYTES_MAX = 10 * 1024
RAW_BYTES_MAX = 10 * 1024

EXACT_COUNT = "ExactCount"
ALL = "All"
EXISTS = "Exists"
EQUAL = "Equal"
FROM_CLASS = "FromClass"
FROM_CLAIM = "FromClaim"

_FIXED = Immutable(shows_value=True)
_RawObject = RawObject(RAW_BYTES_MAX)
RequestNames = Annotated[tuple[str, ...], MaxItems(REQUESTS_MAX), UNIQUE]
ClassName = Annotated[str, REQUIRED, dns_subdomain]
AllocationMode = Annotated[str, OneOf((ALL, EXACT_COUNT))]


class CELDeviceSelector(Shape):
    expression: Annotated[
        str,
        REQUIRED,
        MaxBytes(EXPRESSION_BYTES_MAX),
        Meta(description="A CEL expression on `device`; true selects it."),
    ] = ""


class DeviceSelector(Shape):
    cel: Annotated[CELDeviceSelector | None, REQUIRED] = None


class OpaqueDeviceConfiguration(Shape):
    driver: DriverName = ""
    parameters: Annotated[
        Any | None, REQUIRED, _RawObject, Meta(description="For the driver; nothing else reads it.")
    ] = None


class DeviceClassConfiguration(Shape):
    opaque: Annotated[OpaqueDeviceConfiguration | None, REQUIRED] = None


class DeviceClassSpec(Shape):
    selectors: Annotated[
        tuple[DeviceSelector, ...],
        MaxItems(SELECTORS_MAX),
        Meta(description="Devices of the class satisfy all of these."),
    ] = ()
    config: Annotated[tuple[DeviceClassConfiguration, ...], MaxItems(CONFIGURATIONS_MAX)] = ()
    extended_resource_name: Annotated[
        str | None,
        extended_resource,
        Meta(description="The extended resource by which pods get devices of the class."),
    ] = None


class DeviceClass(ApiObject):
    """A named set of devices, and how they are set up."""

    spec: Annotated[DeviceClassSpec, PRESENT, Meta(description="Which devices belong to the class.")] = (
        DeviceClassSpec()
    )


class DeviceToleration(Shape):
    key: Annotated[str, label_key] = ""
    operator: Annotated[str, REQUIRED, OneOf((EQUAL, EXISTS))] = ""
    value: str = ""
    effect: Annotated[str, OneOf(TAINT_EFFECTS, unlisted=("",))] = ""
    toleration_seconds: Int64 | None = None


class CapacityRequirements(Shape):
    requests: Annotated[dict[str, Quantity], QUALIFIED_KEYS, QUANTITY] = msgspec.field(default_factory=dict)


class ExactDeviceRequest(Shape):
    """So many devices of a class, or all that match."""

    device_class_name: ClassName = ""
    selectors: Annotated[tuple[DeviceSelector, ...], MaxItems(SELECTORS_MAX)] = ()
    allocation_mode: Annotated[
        AllocationMode, Meta(description="ExactCount (the default) or All: every device that matches.")
    ] = ""
    count: Annotated[Int64, Meta(description="How many devices; 1 by default, not allowed with All.")] = 0
    admin_access: Annotated[
        bool | None, Meta(description="Use devices whether they are in use or not, in order to watch them.")
    ] = None
    tolerations: Annotated[tuple[DeviceToleration, ...], MaxItems(TOLERATIONS_MAX)] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[Any, ...] = ()


class DeviceSubRequest(Shape):
    """One of the alternatives of a request."""

    name: Annotated[str, PRESENT, dns_label] = ""
    device_class_name: ClassName = ""
    selectors: Annotated[tuple[DeviceSelector, ...], MaxItems(SELECTORS_MAX)] = ()
    allocation_mode: AllocationMode = ""
    count: Int64 = 0
    tolerations: Annotated[tuple[DeviceToleration, ...], MaxItems(TOLERATIONS_MAX)] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[Any, ...] = ()


class DeviceRequest(Shape):
    """Exactly one of exactly and firstAvailable is set."""

    name: Annotated[str, PRESENT, dns_label, Meta(description="Unique within the claim.")] = ""
    exactly: ExactDeviceRequest | None = None
    first_available: Annotated[
        tuple[DeviceSubRequest, ...],
        MaxItems(ALTERNATIVES_MAX),
        NAMED,
        Meta(description="Alternatives, the most wanted first; one of them is given."),
    ] = ()


class DeviceConstraint(Shape):
    """Exactly one of matchAttribute and distinctAttribute is set."""

    requests: Annotated[
        RequestNames, Meta(description="Requests (`request` or `request/alternative`); empty means all.")
    ] = ()
    match_attribute: Annotated[
        str | None,
        QualifiedName(needs_domain=True),
        Meta(description="All devices agree in this attribute."),
    ] = None
    distinct_attribute: Annotated[
        str | None,
        QualifiedName(needs_domain=True),
        Meta(description="No two devices agree in this attribute."),
    ] = None


class DeviceClaimConfiguration(Shape):
    requests: RequestNames = ()
    opaque: Annotated[OpaqueDeviceConfiguration | None, REQUIRED] = None


class DeviceClaim(Shape):
    requests: Annotated[tuple[DeviceRequest, ...], REQUIRED, MaxItems(REQUESTS_MAX), NAMED] = ()
    constraints: Annotated[tuple[DeviceConstraint, ...], MaxItems(CONSTRAINTS_MAX)] = ()
    config: Annotated[tuple[DeviceClaimConfiguration, ...], MaxItems(CONFIGURATIONS_MAX)] = ()


class ResourceClaimSpec(Shape):
    """What is claimed. Fixed at creation."""

    devices: Annotated[DeviceClaim, PRESENT] = DeviceClaim()


class DeviceRequestAllocationResult(Shape):
    """One device given to one request."""

    request: Annotated[str, PRESENT, Meta(description="`request`, or `request/alternative`.")] = ""
    driver: DriverName = ""
    pool: PoolName = ""
    device: DeviceName = ""
    admin_access: bool | None = None
    tolerations: Annotated[tuple[DeviceToleration, ...], MaxItems(TOLERATIONS_MAX)] = ()
    binding_conditions: BindingConditions = ()
    binding_failure_conditions: BindingConditions = ()
    share_id: Annotated[
        str | None,
        normalized_uid,
        Meta(description="Tells the shares of one device apart, if several claims may use it."),
    ] = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, Quantity] = msgspec.field(default_factory=dict)
    skip_node_operations: tuple[str, ...] = ()


class DeviceAllocationConfiguration(Shape):
    source: Annotated[str, REQUIRED, OneOf((FROM_CLAIM, FROM_CLASS))] = ""
    requests: RequestNames = ()
    opaque: Annotated[OpaqueDeviceConfiguration | None, REQUIRED] = None


class DeviceAllocationResult(Shape):
    results: Annotated[tuple[DeviceRequestAllocationResult, ...], MaxItems(RESULTS_MAX)] = ()
    config: Annotated[tuple[DeviceAllocationConfiguration, ...], MaxItems(2 * CONFIGURATIONS_MAX)] = ()


class AllocationResult(Shape):
    """The devices a claim was given, and the nodes from which they can be used."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Timestamp = ""


class ResourceClaimConsumerReference(Shape):
    """An object that may use the claim: a pod, or a PodGroup for all its pods."""

    api_group: str = ""
    resource: Annotated[str, REQUIRED] = ""
    name: Annotated[str, REQUIRED] = ""
    uid: Annotated[str, REQUIRED] = ""


class NetworkDeviceData(Shape):
    interface_name: str = ""
    ips: tuple[str, ...] = ()
    hardware_address: str = ""


class AllocatedDeviceStatus(Shape):
    """What a driver reports about a device that the claim was given."""

    driver: DriverName = ""
    pool: PoolName = ""
    device: DeviceName = ""
    share_id: Annotated[str | None, normalized_uid] = msgspec.field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()
    data: Annotated[Any | None, _RawObject] = None
    network_data: NetworkDeviceData | None = None


class ResourceClaimStatus(Shape):
    allocation: Annotated[
        AllocationResult | None, Meta(description="Set once the claim has its devices; then it is fixed.")
    ] = None
    reserved_for: Annotated[
        tuple[ResourceClaimConsumerReference, ...],
        merge_list("uid"),
        MaxItems(CONSUMERS_MAX),
        KeyedBy("uid", shows_key=True),
        Meta(description="The pods and groups that may use the claim; only an allocated claim has any."),
    ] = ()
    devices: Annotated[tuple[AllocatedDeviceStatus, ...], Meta(description="Reports of drivers.")] = ()


class ResourceClaim(ApiObject):
    """A request for devices that pods can name, and the devices it was given."""

    spec: Annotated[ResourceClaimSpec, PRESENT, _FIXED, Meta(description="What is claimed.")] = (
        ResourceClaimSpec()
    )
    status: Annotated[ResourceClaimStatus, Meta(description="What the claim was given, and who uses it.")] = (
        ResourceClaimStatus()
    )


class ResourceClaimTemplateSpec(Shape):
    metadata: Annotated[ObjectMeta, Meta(description="Labels and annotations of the claims.")] = ObjectMeta()
    spec: Annotated[ResourceClaimSpec, PRESENT, Meta(description="What the claims ask for.")] = (
        ResourceClaimSpec()
    )


class ResourceClaimTemplate(ApiObject):
    """What claims look like that are made for one pod or one PodGroup each."""

    spec: Annotated[ResourceClaimTemplateSpec, PRESENT, _FIXED, Meta(description="What the claims are.")] = (
        ResourceClaimTemplateSpec()
    )
