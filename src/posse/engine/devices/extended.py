"""Extended resources that devices stand for: a pod asks for an amount, and gets a claim made from it.

On a node that offers the resource itself, through a device plugin, no claim is needed.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from posse.engine.nodes.resources import amount
from posse.model.container import Container
from posse.model.pod import ContainerExtendedResourceRequest, Pod
from posse.model.resource_claim import (
    DEVICE_CLASS_RESOURCE_PREFIX,
    EXACT_COUNT,
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaimSpec,
)

_MAX_NAME = 228
"""Of the pod's name, so that the claim's is not too long."""
_MAX_RESOURCES = 4
"""Resources of one pod that are told apart node by node."""


@dataclass(frozen=True, slots=True)
class ExtendedClaimSpec:
    """The claim of a pod on nodes that do not offer these of its resources."""

    resources: tuple[str, ...]
    spec: ResourceClaimSpec
    mappings: tuple[ContainerExtendedResourceRequest, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one container asks of one resource."""

    container: str
    resource: str
    name: str
    """Name of the request."""
    count: int
    is_init: bool


def names_a_class(pod: Pod) -> bool:
    """Whether it requests an extended resource that is named after a device class."""
    for one in (*pod.spec.init_containers, *pod.spec.containers):
        for name in one.resources.requests:
            if name.startswith(DEVICE_CLASS_RESOURCE_PREFIX):
                return True
    return False


def claim_name(pod: Pod) -> str:
    """The name of the claim that is made; the same for every attempt of the pod."""
    digest = hashlib.sha256(pod.metadata.uid.encode()).hexdigest()
    return f"{pod.metadata.name[:_MAX_NAME]}-extended-resources-{digest[:5]}"


def backed_resources(
    pod: Pod, backing: Mapping[str, DeviceClass], classes: Mapping[str, DeviceClass]
) -> list[str]:
    """The extended resources of the pod that device classes stand for, in order."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    names = sorted({name: None for one in containers for name in one.resources.requests})
    return [name for name in names if _class_of(name, backing, classes) is not None]


def extended_claims(
    pod: Pod, backing: Mapping[str, DeviceClass], classes: Mapping[str, DeviceClass]
) -> Iterator[ExtendedClaimSpec]:
    """The claim for every combination of resources that a node may lack."""
    backed = backed_resources(pod, backing, classes)
    for some in _combinations(backed):
        parts = [part for part in _parts(pod) if part.resource in some]
        requests, mappings = _requests(parts)
        spec = ResourceClaimSpec(
            devices=DeviceClaim(
                requests=tuple(
                    DeviceRequest(
                        name=name,
                        exactly=ExactDeviceRequest(
                            device_class_name=_class_of(resource, backing, classes) or "",
                            allocation_mode=EXACT_COUNT,
                            count=count,
                        ),
                    )
                    for name, resource, count in requests
                )
            )
        )
        yield ExtendedClaimSpec(tuple(some), spec, tuple(mappings))


def _combinations(backed: Sequence[str]) -> list[list[str]]:
    if len(backed) > _MAX_RESOURCES:
        return [list(backed)]
    numbers = range(1, 2 ** len(backed))
    return [[name for bit, name in enumerate(backed) if number >> bit & 1] for number in numbers]


def _class_of(
    resource: str, backing: Mapping[str, DeviceClass], classes: Mapping[str, DeviceClass]
) -> str | None:
    if resource in backing:
        return backing[resource].metadata.name
    name = resource.removeprefix(DEVICE_CLASS_RESOURCE_PREFIX)
    return name if name != resource and name in classes else None


def _parts(pod: Pod) -> Iterator[_Part]:
    listed: list[tuple[Container, bool]] = [
        *((one, one.restart_policy != "Always") for one in pod.spec.init_containers),
        *((one, False) for one in pod.spec.containers),
    ]
    for number, (container, is_init) in enumerate(listed):
        for index, resource in enumerate(sorted(container.resources.requests)):
            count = amount(resource, container.resources.requests[resource])
            if count:
                name = f"container-{number}-request-{index}"
                yield _Part(container.name, resource, name, count, is_init)


def _requests(
    parts: Sequence[_Part],
) -> tuple[list[tuple[str, str, int]], list[ContainerExtendedResourceRequest]]:
    """Name, resource and number of devices of each request, and which container uses which.

    Containers that run before the others use the devices of these, and get more only if they need more.
    """
    requests = [(one.name, one.resource, one.count) for one in parts if not one.is_init]
    mappings = [_mapping(one, one.name) for one in parts if not one.is_init]
    for part in (one for one in parts if one.is_init):
        missing = part.count
        for name, resource, count in list(requests):
            if resource == part.resource and missing > 0:
                mappings.append(_mapping(part, name))
                missing -= count
        if missing > 0:
            requests.append((part.name, part.resource, missing))
            mappings.append(_mapping(part, part.name))
    return requests, mappings


def _mapping(part: _Part, request: str) -> ContainerExtendedResourceRequest:
    return ContainerExtendedResourceRequest(
        container_name=part.container, resource_name=part.resource, request_name=request
    )
