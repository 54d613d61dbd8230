"""Rules for the containers of a pod: names, images, ports, amounts, mounts. How a container runs is not
judged.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from posse.kinds.machinery.checks import one_of, required
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.quantities import requirements_errors
from posse.model.container import Container, ContainerPort
from posse.model.formats import dns_label
from posse.model.pod import PodSpec

PORT_RANGE_TEXT = "must be between 1 and 65535, inclusive"
PORT_NAME_TEXT = (
    "must be at most 15 lower case alphanumeric characters or '-', contain a letter, "
    "and neither begin nor end with '-' nor contain '--'"
)

_PORT_NAME = re.compile(r"(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*")
_pull_policy = one_of("Always", "IfNotPresent", "Never")
_message_policy = one_of("File", "FallbackToLogsOnError")
_restart_policy = one_of("Always", "OnFailure", "Never")
_protocol = one_of("TCP", "UDP", "SCTP")


def all_containers_errors(spec: PodSpec) -> list[FieldError]:
    errors = []
    if not spec.containers:
        errors.append(FieldError.required("spec.containers"))
    seen: set[str] = set()
    volumes = {volume.name for volume in spec.volumes}
    for path, container in _with_paths(spec):
        errors += _container_errors(path, container, volumes)
        if container.name and container.name in seen:
            errors.append(FieldError.duplicate(f"{path}.name", container.name))
        seen.add(container.name)
    return errors + _host_port_errors(spec)


def _with_paths(spec: PodSpec) -> Iterator[tuple[str, Container]]:
    for index, container in enumerate(spec.containers):
        yield f"spec.containers[{index}]", container
    for index, container in enumerate(spec.init_containers):
        yield f"spec.initContainers[{index}]", container


def _container_errors(path: str, container: Container, volumes: Collection[str]) -> list[FieldError]:
    return [
        *required(f"{path}.name", container.name, dns_label),
        *_image_errors(f"{path}.image", container.image),
        *_pull_policy(f"{path}.imagePullPolicy", container.image_pull_policy),
        *_message_policy(f"{path}.terminationMessagePolicy", container.termination_message_policy),
        *_restart_policy(f"{path}.restartPolicy", container.restart_policy or None),
        *_ports_errors(f"{path}.ports", container.ports),
        *_environment_errors(f"{path}.env", container),
        *_mounts_errors(f"{path}.volumeMounts", container, volumes),
        *requirements_errors(f"{path}.resources", container.resources),
    ]


def _image_errors(path: str, image: str) -> list[FieldError]:
    if not image:
        return [FieldError.required(path)]
    if image != image.strip():
        return [FieldError.invalid(path, image, "must not have leading or trailing whitespace")]
    return []


def _ports_errors(field: str, ports: Sequence[ContainerPort]) -> list[FieldError]:
    errors = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        path = f"{field}[{index}]"
        errors += _port_errors(path, port)
        if port.name and port.name in names:
            errors.append(FieldError.duplicate(f"{path}.name", port.name))
        names.add(port.name)
    return errors


def _port_errors(path: str, port: ContainerPort) -> list[FieldError]:
    errors = []
    if port.name and not _PORT_NAME.fullmatch(port.name):
        errors.append(FieldError.invalid(f"{path}.name", port.name, PORT_NAME_TEXT))
    if port.container_port == 0:
        errors.append(FieldError.required(f"{path}.containerPort"))
    elif not 1 <= port.container_port <= 65535:
        errors.append(FieldError.invalid(f"{path}.containerPort", port.container_port, PORT_RANGE_TEXT))
    if port.host_port and not 1 <= port.host_port <= 65535:
        errors.append(FieldError.invalid(f"{path}.hostPort", port.host_port, PORT_RANGE_TEXT))
    return errors + _protocol(f"{path}.protocol", port.protocol)


def _host_port_errors(spec: PodSpec) -> list[FieldError]:
    """Containers that run side by side share the node's ports; init containers run one after another."""
    errors = []
    taken: set[str] = set()
    for index, container in enumerate(spec.containers):
        for number, port in enumerate(container.ports):
            path = f"spec.containers[{index}].ports[{number}].hostPort"
            if spec.host_network and port.host_port != port.container_port:
                text = "must match `containerPort` when `hostNetwork` is true"
                errors.append(FieldError.invalid(path, port.host_port, text))
            address = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if port.host_port and address in taken:
                errors.append(FieldError.duplicate(path, address))
            taken.add(address)
    return errors


def _environment_errors(field: str, container: Container) -> list[FieldError]:
    return [
        FieldError.required(f"{field}[{index}].name")
        for index, variable in enumerate(container.env)
        if not variable.name
    ]


def _mounts_errors(field: str, container: Container, volumes: Collection[str]) -> list[FieldError]:
    errors = []
    places: set[str] = set()
    for index, mount in enumerate(container.volume_mounts):
        path = f"{field}[{index}]"
        if not mount.name:
            errors.append(FieldError.required(f"{path}.name"))
        elif mount.name not in volumes:
            errors.append(FieldError.not_found(f"{path}.name", mount.name))
        if not mount.mount_path:
            errors.append(FieldError.required(f"{path}.mountPath"))
        if mount.mount_path in places:
            errors.append(FieldError.invalid(f"{path}.mountPath", mount.mount_path, "must be unique"))
        places.add(mount.mount_path)
    return errors
