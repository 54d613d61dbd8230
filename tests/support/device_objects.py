"""Makers of device classes, slices and claims, and pods that use them."""

from posse.model.device import (
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    DeviceTaint,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from posse.model.meta import ObjectMeta, OwnerReference
from posse.model.placement import NodeSelector, NodeSelectorTerm
from posse.model.pod import PodResourceClaim, PodResourceClaimStatus
from posse.model.resource_claim import (
    AllocationResult,
    CapacityRequirements,
    CELDeviceSelector,
    DeviceAllocationResult,
    DeviceClaim,
    DeviceClass,
    DeviceClassSpec,
    DeviceConstraint,
    DeviceRequest,
    DeviceRequestAllocationResult,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimSpec,
    ResourceClaimStatus,
)
from tests.support.builders import CREATED, NAMESPACE, changed, pod, requirement

DRIVER = "dra.example.com"


def cel(*expressions):
    return tuple(DeviceSelector(cel=CELDeviceSelector(expression=one)) for one in expressions)


def device_class(name="gpu", *expressions, extended=None, created=CREATED, config=()):
    return DeviceClass(
        metadata=ObjectMeta(name=name, uid=f"class-{name}", creation_timestamp=created),
        spec=DeviceClassSpec(
            selectors=cel(*expressions), extended_resource_name=extended, config=tuple(config)
        ),
    )


def attribute(value):
    kind = {bool: "bool_value", int: "int_value", str: "string_value"}[type(value)]
    return DeviceAttribute(**{kind: value})


def device(name="d1", *, attributes=None, capacity=None, counters=None, taints=(), shared=None, **fields):
    """Make a device; `counters` are amounts by counter, by set."""
    return Device(
        name=name,
        attributes={key: attribute(value) for key, value in (attributes or {}).items()},
        capacity={
            key: value if isinstance(value, DeviceCapacity) else DeviceCapacity(value=value)
            for key, value in (capacity or {}).items()
        },
        consumes_counters=tuple(
            DeviceCounterConsumption(
                counter_set=one, counters={key: Counter(value=value) for key, value in amounts.items()}
            )
            for one, amounts in (counters or {}).items()
        ),
        taints=tuple(DeviceTaint(key=key, effect=effect) for key, effect in taints),
        allow_multiple_allocations=shared,
        **fields,
    )


def resource_slice(where="n1", devices=1, *, name="", pool="", generation=1, count=1, driver=DRIVER, **spec):
    """Make a slice of one node, or with another reach if `where` is empty; `devices` is a number or a list."""
    listed = [device(f"d{i}") for i in range(1, devices + 1)] if isinstance(devices, int) else devices
    counters = tuple(
        CounterSet(name=one, counters={key: Counter(value=value) for key, value in amounts.items()})
        for one, amounts in spec.pop("counters", {}).items()
    )
    return ResourceSlice(
        metadata=ObjectMeta(
            name=name or f"{where or 'net'}-{pool or 'slice'}", uid=f"slice-{name or where}-{pool}"
        ),
        spec=ResourceSliceSpec(
            driver=driver,
            pool=ResourcePool(name=pool or where or "net", generation=generation, resource_slice_count=count),
            node_name=where or None,
            devices=tuple(listed),
            shared_counters=counters,
            **spec,
        ),
    )


def exact(name="req", count=1, *expressions, of="gpu", capacity=None, **fields):
    if capacity is not None:
        fields["capacity"] = CapacityRequirements(requests=capacity)
    return DeviceRequest(
        name=name,
        exactly=ExactDeviceRequest(device_class_name=of, count=count, selectors=cel(*expressions), **fields),
    )


def first_of(name="req", **alternatives):
    """A request with alternatives: each is a class name and a number."""
    return DeviceRequest(
        name=name,
        first_available=tuple(
            DeviceSubRequest(name=one, device_class_name=of, count=count)
            for one, (of, count) in alternatives.items()
        ),
    )


def matching(attribute, *requests):
    return DeviceConstraint(requests=requests, match_attribute=attribute)


def distinct(attribute, *requests):
    return DeviceConstraint(requests=requests, distinct_attribute=attribute)


def claim_spec(*requests, constraints=(), config=()):
    return ResourceClaimSpec(
        devices=DeviceClaim(
            requests=requests or (exact(),), constraints=tuple(constraints), config=tuple(config)
        )
    )


def device_claim(name="c", *requests, owner="", deleted="", **spec):
    owners = (OwnerReference(kind="Pod", name=owner, uid=f"uid-{owner}", controller=True),) if owner else ()
    return ResourceClaim(
        metadata=ObjectMeta(
            name=name,
            namespace=NAMESPACE,
            uid=f"claim-{name}",
            owner_references=owners,
            deletion_timestamp=deleted,
            resource_version="1",
        ),
        spec=claim_spec(*requests, **spec),
    )


def on_node(name):
    """The node selector of an allocation with local devices."""
    here = requirement("metadata.name", "In", name)
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(here,)),))


def given(claim, *devices, to=(), selector=None, driver=DRIVER):
    """The claim with devices, as pool/device, reserved for these pods."""
    results = tuple(
        DeviceRequestAllocationResult(request="req", driver=driver, pool=pool, device=name)
        for pool, _, name in (one.rpartition("/") for one in devices)
    )
    consumers = tuple(
        ResourceClaimConsumerReference(resource="pods", name=one, uid=f"uid-{one}") for one in to
    )
    allocation = AllocationResult(
        devices=DeviceAllocationResult(results=results), node_selector=selector, allocation_timestamp=CREATED
    )
    return changed(claim, status={"allocation": allocation, "reserved_for": consumers})


def written(claim, allocation):
    """The claim as the API server shows it after a decision was carried out."""
    before = claim.status.reserved_for
    return changed(
        claim,
        status={"allocation": allocation.allocation, "reserved_for": (*before, *allocation.consumers)},
    )


def released(claim):
    return changed(claim, status=ResourceClaimStatus())


def claiming(*names):
    """The entries of a pod that uses these claims by name."""
    return tuple(PodResourceClaim(name=f"entry-{name}", resource_claim_name=name) for name in names)


def pod_with_own(name="p1", *specs, entry="gpu", **description):
    """A pod with a claim of its own for each tuple of requests, and these claims."""
    asked = specs or ((exact(),),)
    claims = [device_claim(f"{name}-{entry}{i}", *one, owner=name) for i, one in enumerate(asked)]
    entries = tuple(
        PodResourceClaim(name=f"{entry}{i}", resource_claim_template_name="t") for i in range(len(asked))
    )
    made = pod(name, resource_claims=entries, **description)
    statuses = tuple(
        PodResourceClaimStatus(name=f"{entry}{i}", resource_claim_name=claim.metadata.name)
        for i, claim in enumerate(claims)
    )
    return changed(made, status={"resource_claim_statuses": statuses}), claims


def pods_with_own(count, *specs, **description):
    """Pods p1, p2 and so on, and their claims."""
    made = [pod_with_own(f"p{i}", *specs, **description) for i in range(1, count + 1)]
    return [one for one, _ in made], [claim for _, claims in made for claim in claims]


def allocations(decisions):
    """Devices by claim, as pool/device, of all bindings."""
    return {
        claim.claim.name: [f"{one.pool}/{one.device}" for one in claim.allocation.devices.results]
        for decision in decisions
        for claim in getattr(decision, "claims", ())
    }
