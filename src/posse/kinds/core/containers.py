"""Rules for the containers of a pod that relate them to each other, and to the volumes of the pod."""

from collections.abc import Collection

from posse.kinds.core.pod_claims import claim_references_errors
from posse.kinds.machinery.errors import FieldError
from posse.model.container import Container
from posse.model.pod import PodSpec


def all_containers_errors(spec: PodSpec) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    volumes = {volume.name for volume in spec.volumes}
    claims = {claim.name for claim in spec.resource_claims}
    for list_name, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            field = f"spec.{list_name}[{index}]"
            if container.volume_mounts:
                errors += _mounts_errors(f"{field}.volumeMounts", container, volumes)
            if container.resources.claims:
                references = container.resources.claims
                errors += claim_references_errors(f"{field}.resources.claims", references, claims)
            if container.name and container.name in seen:
                errors.append(FieldError.duplicate(f"{field}.name", container.name))
            seen.add(container.name)
    return errors + _host_port_errors(spec)


def _mounts_errors(field: str, container: Container, volumes: Collection[str]) -> list[FieldError]:
    return [
        FieldError.not_found(f"{field}[{index}].name", mount.name)
        for index, mount in enumerate(container.volume_mounts)
        if mount.name and mount.name not in volumes
    ]


def _host_port_errors(spec: PodSpec) -> list[FieldError]:
    """Containers that run side by side share the node's ports; init containers run one after another."""
    errors = []
    taken: set[str] = set()
    for index, container in enumerate(spec.containers):
        for number, port in enumerate(container.ports):
            if not port.host_port and not spec.host_network:
                continue
            field = f"spec.containers[{index}].ports[{number}].hostPort"
            if spec.host_network and port.host_port != port.container_port:
                text = "must match `containerPort` when `hostNetwork` is true"
                errors.append(FieldError.invalid(field, port.host_port, text))
            address = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if address in taken:
                errors.append(FieldError.duplicate(field, address))
            if port.host_port:
                taken.add(address)
    return errors
