"""Clusters and workloads to measure with. Building them is never part of what is measured."""

from msgspec.structs import replace

from posse.model.container import Container, ResourceRequirements
from posse.model.meta import LabelSelector, ObjectMeta
from posse.model.node import Node, NodeSpec, NodeStatus
from posse.model.placement import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
)
from posse.model.pod import Pod, PodSchedulingGroup, PodSpec, PodStatus
from posse.model.workload import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    SchedulingConstraints,
    TopologyConstraint,
)

NAMESPACE = "bench"
ZONE, HOSTNAME, RACK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "rack"
_RACKS = 50
_APP = {"app": "bench"}


def nodes(count: int, zones: int = 3) -> list[Node]:
    """Equal nodes in racks, the worst case for a search: all are as good as each other."""
    return [_node(ordinal, zones) for ordinal in range(count)]


def _node(ordinal: int, zones: int) -> Node:
    name = f"node-{ordinal:06}"
    labels = {
        HOSTNAME: name,
        ZONE: f"zone-{ordinal % zones}",
        RACK: f"rack-{ordinal % _RACKS}",
    }
    return Node(
        metadata=ObjectMeta(name=name, uid=name, labels=labels),
        spec=NodeSpec(),
        status=NodeStatus(allocatable={"cpu": "32", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "8"}),
    )


def pod(ordinal: int, cpu: str = "100m", group: str = "", memory: str = "200Mi") -> Pod:
    name = f"pod-{ordinal:06}"
    container = Container(
        name="main",
        image="registry.k8s.io/pause:3.10",
        resources=ResourceRequirements(requests={"cpu": cpu, "memory": memory}),
    )
    return Pod(
        metadata=ObjectMeta(
            name=name, namespace=NAMESPACE, uid=name, creation_timestamp="2026-01-01T00:00:00Z"
        ),
        spec=PodSpec(
            scheduler_name="default-scheduler",
            containers=(container,),
            scheduling_group=PodSchedulingGroup(pod_group_name=group) if group else None,
        ),
        status=PodStatus(phase="Pending"),
    )


def in_zone(one: Pod, zone: str) -> Pod:
    """The pod, required to run in one zone."""
    requirement = NodeSelectorRequirement(key=ZONE, operator="In", values=(zone,))
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(requirement,)),))
    affinity = NodeAffinity(required_during_scheduling_ignored_during_execution=selector)
    return replace(one, spec=replace(one.spec, affinity=Affinity(node_affinity=affinity)))


def spread_over_zones(one: Pod) -> Pod:
    """The pod, to be spread evenly over zones together with all others like it, as a law."""
    constraint = TopologySpreadConstraint(
        max_skew=1,
        topology_key=ZONE,
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels=_APP),
    )
    return replace(_labelled(one), spec=replace(one.spec, topology_spread_constraints=(constraint,)))


def alone_on_its_host(one: Pod) -> Pod:
    """The pod, sharing its node with no other like it."""
    term = PodAffinityTerm(label_selector=LabelSelector(match_labels=_APP), topology_key=HOSTNAME)
    apart = PodAntiAffinity(required_during_scheduling_ignored_during_execution=(term,))
    return replace(_labelled(one), spec=replace(one.spec, affinity=Affinity(pod_anti_affinity=apart)))


def _labelled(one: Pod) -> Pod:
    return replace(one, metadata=replace(one.metadata, labels=_APP))


def bound(pod: Pod, node: str) -> Pod:
    """The pod as the API shows it once it is bound."""
    return replace(pod, spec=replace(pod.spec, node_name=node))


def gangs(count: int, size: int, cpu: str = "100m", topology: str = "") -> tuple[list[PodGroup], list[Pod]]:
    """Gangs of equal pods; with a topology key, each in one domain of it."""
    groups = [_gang(f"gang-{which:05}", size, topology) for which in range(count)]
    members = [pod(ordinal, cpu, f"gang-{ordinal // size:05}") for ordinal in range(count * size)]
    return groups, members


def _gang(name: str, size: int, topology: str) -> PodGroup:
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=size))
    return PodGroup(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, uid=name),
        spec=PodGroupSpec(scheduling_policy=policy, scheduling_constraints=_one_domain(topology)),
    )


def _one_domain(key: str) -> SchedulingConstraints | None:
    return SchedulingConstraints(topology=(TopologyConstraint(key=key),)) if key else None
