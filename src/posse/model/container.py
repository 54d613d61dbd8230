"""The containers of a pod: what they ask for, which ports they open, and the states they pass through.

How a container is run (probes, lifecycle, security, environment sources) is not read here and stays
opaque.
"""

from typing import Annotated, Any

import msgspec

from posse.model.constraints import AMOUNTS, BLAMES_HOLDER, OPAQUE, REQUIRED, Between, KeyedBy, Keys, OneOf
from posse.model.formats import container_resource, dns_label, port_name, trimmed
from posse.model.meta import Int32, Quantity, Shape, Timestamp, merge_list

PORT = Between(1, 65535)
PROTOCOLS = ("TCP", "UDP", "SCTP")
RESTART_POLICIES = ("Always", "OnFailure", "Never")
ContainerAmounts = Annotated[dict[str, Quantity], Keys(container_resource), AMOUNTS]


class ContainerPort(Shape):
    name: Annotated[str, port_name] = ""
    container_port: Annotated[Int32, REQUIRED, PORT] = 0
    host_port: Annotated[Int32, PORT] = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: Annotated[str, OneOf(PROTOCOLS)] = ""


class ContainerResourceClaim(Shape):
    name: Annotated[str, REQUIRED, BLAMES_HOLDER] = ""
    request: Annotated[str, dns_label] = ""


class ResourceRequirements(Shape):
    limits: ContainerAmounts = msgspec.field(default_factory=dict)
    requests: ContainerAmounts = msgspec.field(default_factory=dict)
    claims: tuple[ContainerResourceClaim, ...] = ()


class EnvVar(Shape):
    name: Annotated[str, REQUIRED] = ""
    value: str = ""
    value_from: Any = None


class VolumeMount(Shape):
    name: Annotated[str, REQUIRED] = ""
    mount_path: Annotated[str, REQUIRED] = ""
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
    name: Annotated[str, REQUIRED, dns_label] = ""
    image: Annotated[str, REQUIRED, trimmed] = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    ports: Annotated[
        tuple[ContainerPort, ...], merge_list("containerPort"), KeyedBy("name", blames_key=True)
    ] = ()
    env_from: tuple[Any, ...] = ()
    env: Annotated[tuple[EnvVar, ...], merge_list("name")] = ()
    resources: ResourceRequirements = ResourceRequirements()
    resize_policy: tuple[Any, ...] = ()
    # "Always" turns an init container into a sidecar, whose request counts for the pod's whole life.
    restart_policy: Annotated[str, OneOf(RESTART_POLICIES, unlisted=("",))] = ""
    restart_policy_rules: tuple[Any, ...] = ()
    volume_mounts: Annotated[
        tuple[VolumeMount, ...],
        merge_list("mountPath"),
        KeyedBy("mountPath", blames_key=True, text="must be unique"),
    ] = ()
    volume_devices: Annotated[tuple[VolumeDevice, ...], merge_list("devicePath")] = ()
    liveness_probe: Any = None
    readiness_probe: Any = None
    startup_probe: Any = None
    lifecycle: Any = None
    termination_message_path: str = ""
    termination_message_policy: Annotated[str, OneOf(("File", "FallbackToLogsOnError"))] = ""
    image_pull_policy: Annotated[str, OneOf(("Always", "IfNotPresent", "Never"))] = ""
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
    resources: Annotated[ResourceRequirements | None, OPAQUE] = None
    stop_signal: str | None = None
    user: Any = None
    volume_mounts: tuple[Any, ...] = ()
