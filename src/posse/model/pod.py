"""Pod: what it asks for, which group it belongs to, and how far it has come."""

from typing import Annotated, Any

import msgspec

from posse.model.constraints import (
    AMOUNTS,
    BLAMES_HOLDER,
    OPAQUE,
    PRESENT,
    REQUIRED,
    Between,
    KeyedBy,
    Maximum,
    OneOf,
    Required,
    UnionMember,
)
from posse.model.container import (
    RESTART_POLICIES,
    Container,
    ContainerStatus,
    EphemeralContainer,
    ResourceRequirements,
)
from posse.model.formats import dns_label, dns_subdomain, label_key
from posse.model.meta import (
    CONDITION_STATUSES,
    ApiObject,
    Int32,
    Int64,
    Labels,
    LocalObjectReference,
    ObjectMeta,
    Quantity,
    Shape,
    Timestamp,
    merge_list,
)
from posse.model.placement import Affinity, Toleration, TopologySpreadConstraint
from posse.model.volume import Volume
from posse.model.workload import PREEMPTION_POLICIES

# Kubernetes sets no bound, and past some centuries its deletion times come out wrong.
GRACE_SECONDS_MAX = 2**31 - 1

Name = Annotated[str, dns_subdomain]
Hostname = Annotated[str, dns_label]
ClaimSource = UnionMember(
    none_text="must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
    several_text="at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
    shows_value=True,
)


class PodSchedulingGate(Shape):
    name: Annotated[str, PRESENT, BLAMES_HOLDER, label_key] = ""


class PodSchedulingGroup(Shape):
    """Names a PodGroup of the pod's own namespace, which may be created later than the pod."""

    pod_group_name: Annotated[
        str | None,
        Required("must specify one of: `podGroupName`", is_invalid=True),
        dns_subdomain,
        msgspec.Meta(description="Name of the PodGroup whose members start together with this pod."),
    ] = None


class PodWorkloadReference(Shape):
    """Membership as Kubernetes 1.35 writes it: one implied group per workload, pod group and replica key."""

    name: Annotated[
        str,
        REQUIRED,
        dns_subdomain,
        msgspec.Meta(description="Name of the Workload in the namespace of the pod."),
    ] = ""
    pod_group: Annotated[
        str,
        REQUIRED,
        dns_label,
        msgspec.Meta(description="Name of the template in the Workload that describes the pod's group."),
    ] = ""
    pod_group_replica_key: Annotated[
        str,
        dns_label,
        msgspec.Meta(description="Tells replicas of the group apart: pods with equal keys are one group."),
    ] = ""


class PodReadinessGate(Shape):
    condition_type: Annotated[str, PRESENT, label_key] = ""


class HostAlias(Shape):
    ip: str = ""
    hostnames: tuple[str, ...] = ()


class PodOS(Shape):
    name: Annotated[str, OneOf(("linux", "windows"))] = ""


class PodResourceClaim(Shape):
    name: Annotated[str, REQUIRED, dns_label] = ""
    resource_claim_name: Annotated[str | None, ClaimSource, dns_subdomain] = None
    resource_claim_template_name: Annotated[str | None, ClaimSource, dns_subdomain] = None


class EvictionResponder(Shape):
    name: str = ""
    priority: Int32 | None = None


class PodSpec(Shape):
    volumes: Annotated[
        tuple[Volume, ...], merge_list("name", retain_keys=True), KeyedBy("name", blames_key=True)
    ] = ()
    init_containers: Annotated[tuple[Container, ...], merge_list("name")] = ()
    containers: Annotated[tuple[Container, ...], merge_list("name"), REQUIRED] = ()
    ephemeral_containers: Annotated[tuple[EphemeralContainer, ...], merge_list("name"), OPAQUE] = ()
    restart_policy: Annotated[str, OneOf(RESTART_POLICIES)] = ""
    termination_grace_period_seconds: Annotated[Int64 | None, Maximum(GRACE_SECONDS_MAX)] = None
    active_deadline_seconds: Annotated[Int64 | None, Between(1, 2**31 - 1)] = None
    dns_policy: Annotated[str, OneOf(("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"))] = ""
    dns_config: Any = None
    node_selector: Labels = msgspec.field(default_factory=dict)
    service_account_name: Name = ""
    service_account: str = ""
    automount_service_account_token: bool | None = None
    node_name: Name = ""
    host_network: bool = False
    host_pid: bool = msgspec.field(default=False, name="hostPID")
    host_ipc: bool = msgspec.field(default=False, name="hostIPC")
    host_users: bool | None = None
    share_process_namespace: bool | None = None
    security_context: Any = None
    image_pull_secrets: Annotated[tuple[LocalObjectReference, ...], merge_list("name")] = ()
    hostname: Hostname = ""
    hostname_override: str | None = None
    subdomain: Hostname = ""
    set_hostname_as_fqdn: bool | None = msgspec.field(default=None, name="setHostnameAsFQDN")
    affinity: Affinity | None = None
    scheduler_name: str = ""
    tolerations: tuple[Toleration, ...] = ()
    host_aliases: Annotated[tuple[HostAlias, ...], merge_list("ip")] = ()
    priority_class_name: Name = ""
    priority: Int32 | None = None
    preemption_policy: Annotated[str | None, OneOf(PREEMPTION_POLICIES)] = None
    readiness_gates: tuple[PodReadinessGate, ...] = ()
    runtime_class_name: Name = ""
    enable_service_links: bool | None = None
    overhead: Annotated[dict[str, Quantity], AMOUNTS] = msgspec.field(default_factory=dict)
    topology_spread_constraints: Annotated[
        tuple[TopologySpreadConstraint, ...], merge_list("topologyKey")
    ] = ()
    os: PodOS | None = None
    scheduling_gates: Annotated[
        tuple[PodSchedulingGate, ...], merge_list("name"), KeyedBy("name", blames_key=True)
    ] = ()
    resource_claims: Annotated[
        tuple[PodResourceClaim, ...],
        merge_list("name", retain_keys=True),
        KeyedBy("name", blames_key=True),
    ] = ()
    resources: ResourceRequirements | None = None
    eviction_responders: Annotated[tuple[EvictionResponder, ...], merge_list("name")] = ()
    scheduling_group: Annotated[
        PodSchedulingGroup | None,
        msgspec.Meta(description="The group of pods that this one is scheduled with."),
    ] = None
    workload_ref: PodWorkloadReference | None = None


class PodCondition(Shape):
    type: Annotated[str, REQUIRED, label_key] = ""
    status: Annotated[str, OneOf(CONDITION_STATUSES)] = ""
    observed_generation: Int64 = 0
    # Servers write null here; it is typed so in order that pods decode on the fast path.
    last_probe_time: Timestamp | None = None
    last_transition_time: Timestamp = ""
    reason: str = ""
    message: str = ""


class PodIP(Shape):
    ip: str = ""


class HostIP(Shape):
    ip: str = ""


class PodResourceClaimStatus(Shape):
    name: str = ""
    resource_claim_name: Annotated[str | None, dns_subdomain] = None


class ContainerExtendedResourceRequest(Shape):
    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Shape):
    """The claim made for the extended resources of the pod that are backed by device classes."""

    resource_claim_name: str = ""
    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()


class PodStatus(Shape):
    observed_generation: Int64 = 0
    phase: str = ""
    conditions: Annotated[tuple[PodCondition, ...], merge_list("type")] = ()
    message: str = ""
    reason: str = ""
    nominated_node_name: Name = ""
    host_ip: str = msgspec.field(default="", name="hostIP")
    host_ips: Annotated[tuple[HostIP, ...], merge_list("ip")] = msgspec.field(default=(), name="hostIPs")
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: Annotated[tuple[PodIP, ...], merge_list("ip")] = msgspec.field(default=(), name="podIPs")
    start_time: Timestamp = ""
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    ephemeral_container_statuses: tuple[ContainerStatus, ...] = ()
    qos_class: str = ""
    resize: str = ""
    resource_claim_statuses: Annotated[
        tuple[PodResourceClaimStatus, ...],
        merge_list("name", retain_keys=True),
        KeyedBy("name", blames_key=True),
    ] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    node_allocatable_resource_claim_statuses: tuple[Any, ...] = ()
    allocated_resources: dict[str, Quantity] = msgspec.field(default_factory=dict)
    resources: Annotated[ResourceRequirements | None, OPAQUE] = None
    volume_health: tuple[Any, ...] = ()


# The phases of a pod that has ended and holds nothing.
ENDED_PHASES = frozenset({"Succeeded", "Failed"})


class Pod(ApiObject):
    """One or more containers that run together on one node."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodTemplateSpec(Shape):
    """What pods of a controller are made from; its metadata has labels and annotations, never a name."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class PodTemplate(ApiObject):
    """A template that is kept by itself."""

    template: PodTemplateSpec = PodTemplateSpec()
