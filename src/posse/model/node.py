"""Node: what it offers, what it repels, and whether it is well."""

from typing import Annotated, Any

import msgspec

from posse.model.constraints import AMOUNTS, REQUIRED, OneOf
from posse.model.formats import label_key, label_value
from posse.model.meta import (
    CONDITION_STATUSES,
    MERGE_VALUES,
    ApiObject,
    Int64,
    Quantity,
    Shape,
    Timestamp,
    merge_list,
)

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class Taint(Shape):
    key: Annotated[str, REQUIRED, label_key] = ""
    value: Annotated[str, label_value] = ""
    effect: Annotated[str, REQUIRED, OneOf(TAINT_EFFECTS)] = ""
    time_added: Timestamp = ""


class NodeSpec(Shape):
    pod_cidr: str = msgspec.field(default="", name="podCIDR")
    pod_cidrs: Annotated[tuple[str, ...], MERGE_VALUES] = msgspec.field(default=(), name="podCIDRs")
    provider_id: str = msgspec.field(default="", name="providerID")
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    config_source: Any = None
    external_id: str = msgspec.field(default="", name="externalID")
    pod_preemption_policy: Any = None


class NodeCondition(Shape):
    type: Annotated[str, REQUIRED, label_key] = ""
    status: Annotated[str, OneOf(CONDITION_STATUSES)] = ""
    # Servers write null for what was not set; typed so, nodes decode on the fast path.
    last_heartbeat_time: Timestamp | None = None
    last_transition_time: Timestamp | None = None
    reason: str = ""
    message: str = ""


class NodeAddress(Shape):
    type: str = ""
    address: str = ""


class ContainerImage(Shape):
    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class AttachedVolume(Shape):
    name: str = ""
    device_path: str = ""


class NodeSystemInfo(Shape):
    machine_id: str = msgspec.field(default="", name="machineID")
    system_uuid: str = msgspec.field(default="", name="systemUUID")
    boot_id: str = msgspec.field(default="", name="bootID")
    kernel_version: str = ""
    os_image: str = ""
    container_runtime_version: str = ""
    kubelet_version: str = ""
    kube_proxy_version: str = ""
    operating_system: str = ""
    architecture: str = ""
    running_in_user_namespace: bool | None = None
    swap: Any = None


class NodeStatus(Shape):
    capacity: Annotated[dict[str, Quantity], AMOUNTS] = msgspec.field(default_factory=dict)
    allocatable: Annotated[dict[str, Quantity], AMOUNTS] = msgspec.field(default_factory=dict)
    phase: str = ""
    conditions: Annotated[tuple[NodeCondition, ...], merge_list("type")] = ()
    addresses: Annotated[tuple[NodeAddress, ...], merge_list("type")] = ()
    daemon_endpoints: Any = None
    node_info: NodeSystemInfo = NodeSystemInfo()
    images: tuple[ContainerImage, ...] = ()
    volumes_in_use: tuple[str, ...] = ()
    volumes_attached: tuple[AttachedVolume, ...] = ()
    config: Any = None
    runtime_handlers: tuple[Any, ...] = ()
    features: Any = None
    declared_features: tuple[str, ...] = ()


class Node(ApiObject):
    """A machine that runs pods."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
