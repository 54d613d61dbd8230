"""The containers of a pod: what they ask for, which ports they open, and the states they pass through.

How a container is run (probes, lifecycle, security, environment sources) is not read here and stays
opaque.
"""

from typing import Annotated, Any

import msgspec

from posse.model.meta import Int32, Quantity, Shape, Timestamp, merge_list


class ContainerPort(Shape):
    name: str = ""
    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class ContainerResourceClaim(Shape):
    name: str = ""
    request: str = ""


class ResourceRequirements(Shape):
    requests: dict[str, Quantity] = msgspec.field(default_factory=dict)
    limits: dict[str, Quantity] = msgspec.field(default_factory=dict)
    claims: tuple[ContainerResourceClaim, ...] = ()


class EnvVar(Shape):
    name: str = ""
    value: str = ""
    value_from: Any = None


class VolumeMount(Shape):
    name: str = ""
    mount_path: str = ""
    sub_path: str = ""
    sub_path_expr: str = ""
    read_only: bool = False
    recursive_read_only: str | None = None
    mount_propagation: str | None = None
    bind_mount_options: tuple[str, ...] = ()


class VolumeDevice(Shape):
    name: str = ""
    device_path: str = ""


class Container(Shape):
    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    ports: Annotated[tuple[ContainerPort, ...], merge_list("containerPort")] = ()
    env_from: tuple[Any, ...] = ()
    env: Annotated[tuple[EnvVar, ...], merge_list("name")] = ()
    resources: ResourceRequirements = ResourceRequirements()
    resize_policy: tuple[Any, ...] = ()
    # "Always" turns an init container into a sidecar, whose request counts for the pod's whole life.
    restart_policy: str = ""
    restart_policy_rules: tuple[Any, ...] = ()
    volume_mounts: Annotated[tuple[VolumeMount, ...], merge_list("mountPath")] = ()
    volume_devices: Annotated[tuple[VolumeDevice, ...], merge_list("devicePath")] = ()
    liveness_probe: Any = None
    readiness_probe: Any = None
    startup_probe: Any = None
    lifecycle: Any = None
    termination_message_path: str = ""
    termination_message_policy: str = ""
    image_pull_policy: str = ""
    security_context: Any = None
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False


class EphemeralContainer(Container):
    target_container_name: str = ""


class ContainerStateWaiting(Shape):
    reason: str = ""
    message: str = ""


class ContainerStateRunning(Shape):
    started_at: Timestamp = ""


class ContainerStateTerminated(Shape):
    exit_code: Int32 = 0
    signal: Int32 = 0
    reason: str = ""
    message: str = ""
    started_at: Timestamp = ""
    finished_at: Timestamp = ""
    container_id: str = msgspec.field(default="", name="containerID")


class ContainerState(Shape):
    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(Shape):
    name: str = ""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    ready: bool = False
    restart_count: Int32 = 0
    image: str = ""
    image_id: str = msgspec.field(default="", name="imageID")
    container_id: str = msgspec.field(default="", name="containerID")
    started: bool | None = None
    allocated_resources: dict[str, Quantity] = msgspec.field(default_factory=dict)
    allocated_resources_status: tuple[Any, ...] = ()
    resources: ResourceRequirements | None = None
    stop_signal: str | None = None
    user: Any = None
    volume_mounts: tuple[Any, ...] = ()
