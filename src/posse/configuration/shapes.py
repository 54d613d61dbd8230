"""The fields of a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) and of plugin arguments."""

from typing import Any

from posse.model.meta import Int32, Int64, Shape
from posse.model.placement import NodeAffinity, TopologySpreadConstraint

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"

IGNORE, MUST_MATCH = "Ignore", "MustMatch"
"""Values of memberPriority, a field of Posse: what becomes of pods with another priority than their group."""


class PluginEntry(Shape):
    name: str = ""
    weight: Int32 = 0


class PluginSet(Shape):
    enabled: tuple[PluginEntry, ...] = ()
    disabled: tuple[PluginEntry, ...] = ()


NO_PLUGINS = PluginSet()


class Plugins(Shape):
    multi_point: PluginSet = NO_PLUGINS
    pre_enqueue: PluginSet = NO_PLUGINS
    queue_sort: PluginSet = NO_PLUGINS
    pre_filter: PluginSet = NO_PLUGINS
    filter: PluginSet = NO_PLUGINS
    post_filter: PluginSet = NO_PLUGINS
    pre_score: PluginSet = NO_PLUGINS
    score: PluginSet = NO_PLUGINS
    reserve: PluginSet = NO_PLUGINS
    permit: PluginSet = NO_PLUGINS
    pre_bind: PluginSet = NO_PLUGINS
    bind: PluginSet = NO_PLUGINS
    post_bind: PluginSet = NO_PLUGINS
    placement_generate: PluginSet = NO_PLUGINS
    placement_score: PluginSet = NO_PLUGINS
    pod_group_post_filter: PluginSet = NO_PLUGINS


class PluginConfig(Shape):
    name: str = ""
    args: Any = None


class PackingShape(Shape):
    topology_keys: tuple[str, ...] = ()
    single_pods: bool = False


class ProfileShape(Shape):
    scheduler_name: str = ""
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()
    packing: PackingShape | None = None
    queue_policy: str | None = None


class LeaderElection(Shape):
    leader_elect: bool | None = None
    lease_duration: str = ""
    renew_deadline: str = ""
    retry_period: str = ""
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnection(Shape):
    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: float = 0.0
    burst: Int32 = 0


class ConfigurationShape(Shape):
    api_version: str = ""
    kind: str = ""
    parallelism: Int32 | None = None
    leader_election: LeaderElection | None = None
    client_connection: ClientConnection | None = None
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 | None = None
    pod_max_backoff_seconds: Int64 | None = None
    profiles: tuple[ProfileShape, ...] = ()
    extenders: tuple[Any, ...] = ()
    member_priority: str | None = None
    delay_cache_until_active: bool | None = None


class Arguments(Shape):
    api_version: str = ""
    kind: str = ""


class ResourceSpec(Shape):
    name: str = ""
    weight: Int64 = 0


class UtilizationPoint(Shape):
    utilization: Int32 = 0
    score: Int32 = 0


class RatioParameters(Shape):
    shape: tuple[UtilizationPoint, ...] = ()


class ScoringStrategy(Shape):
    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RatioParameters | None = None


class NodeResourcesFitArgs(Arguments):
    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy | None = None


class NodeResourcesBalancedAllocationArgs(Arguments):
    resources: tuple[ResourceSpec, ...] = ()


class NodeAffinityArgs(Arguments):
    added_affinity: NodeAffinity | None = None


class PodTopologySpreadArgs(Arguments):
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = ""


class InterPodAffinityArgs(Arguments):
    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class DefaultPreemptionArgs(Arguments):
    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class VolumeBindingArgs(Arguments):
    bind_timeout_seconds: Int64 = 600
    shape: tuple[UtilizationPoint, ...] = ()


class DynamicResourcesArgs(Arguments):
    filter_timeout: str | None = None
    binding_timeout: str | None = None
