"""Kinds that workloads bring along and Posse only keeps: Service, ServiceAccount, ConfigMap, Secret."""

from typing import Annotated, Any

import msgspec

from posse.model.constraints import PRESENT, Immutable, Keys, OneOf
from posse.model.container import PORT, PROTOCOLS
from posse.model.formats import config_key
from posse.model.meta import (
    ApiObject,
    Condition,
    Int32,
    IntOrString,
    LocalObjectReference,
    ObjectReference,
    Shape,
    merge_list,
)

Data = Annotated[dict[str, str], Keys(config_key)]


class ServicePort(Shape):
    name: str = ""
    protocol: Annotated[str, OneOf(PROTOCOLS)] = ""
    app_protocol: str | None = None
    port: Annotated[Int32, PRESENT, PORT] = 0
    target_port: IntOrString | None = None
    node_port: Int32 = 0


class ServiceSpec(Shape):
    type: Annotated[str, OneOf(("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"))] = ""
    ports: Annotated[tuple[ServicePort, ...], merge_list("port")] = ()
    selector: dict[str, str] = msgspec.field(default_factory=dict)
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    cluster_ips: tuple[str, ...] = msgspec.field(default=(), name="clusterIPs")
    external_ips: tuple[str, ...] = msgspec.field(default=(), name="externalIPs")
    session_affinity: str = ""
    session_affinity_config: Any = None
    load_balancer_ip: str = msgspec.field(default="", name="loadBalancerIP")
    load_balancer_source_ranges: tuple[str, ...] = ()
    external_name: str = ""
    external_traffic_policy: str = ""
    health_check_node_port: Int32 = 0
    publish_not_ready_addresses: bool = False
    ip_families: tuple[str, ...] = ()
    ip_family_policy: str | None = None
    allocate_load_balancer_node_ports: bool | None = None
    load_balancer_class: str | None = None
    internal_traffic_policy: str | None = None
    traffic_distribution: str | None = None


class ServiceStatus(Shape):
    load_balancer: Any = None
    conditions: Annotated[tuple[Condition, ...], merge_list("type")] = ()


class Service(ApiObject):
    """A name under which a set of pods is reached."""

    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class ServiceAccount(ApiObject):
    """An identity for the processes of pods."""

    secrets: Annotated[tuple[ObjectReference, ...], merge_list("name")] = ()
    image_pull_secrets: Annotated[tuple[LocalObjectReference, ...], merge_list("name")] = ()
    automount_service_account_token: bool | None = None


class ConfigMap(ApiObject):
    """Configuration for pods, as keys and text."""

    immutable: bool | None = None
    data: Data = msgspec.field(default_factory=dict)
    binary_data: Data = msgspec.field(default_factory=dict)


class Secret(ApiObject):
    """Sensitive configuration for pods; values are base64."""

    immutable: bool | None = None
    data: Data = msgspec.field(default_factory=dict)
    string_data: dict[str, str] = msgspec.field(default_factory=dict)
    type: Annotated[str, Immutable(shows_value=True)] = ""
