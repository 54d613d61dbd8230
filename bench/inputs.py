"""Clusters and workloads to measure with. Building them is never part of what is measured."""

from msgspec.structs import replace

from posse.model.container import Container, ResourceRequirements
from posse.model.meta import ObjectMeta
from posse.model.node import Node, NodeSpec, NodeStatus
from posse.model.pod import Pod, PodSchedulingGroup, PodSpec, PodStatus
from posse.model.workload import GangSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy, PodGroupSpec

NAMESPACE = "bench"
_RACKS = 50


def nodes(count: int) -> list[Node]:
    """Equal nodes in racks, the worst case for a search: all are as good as each other."""
    return [_node(ordinal) for ordinal in range(count)]


def _node(ordinal: int) -> Node:
    name = f"node-{ordinal:06}"
    labels = {
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": f"zone-{ordinal % 3}",
        "rack": f"rack-{ordinal % _RACKS}",
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


def bound(pod: Pod, node: str) -> Pod:
    """The pod as the API shows it once it is bound."""
    return replace(pod, spec=replace(pod.spec, node_name=node))


def gangs(count: int, size: int, cpu: str = "100m") -> tuple[list[PodGroup], list[Pod]]:
    groups = [_gang(f"gang-{which:05}", size) for which in range(count)]
    members = [pod(ordinal, cpu, f"gang-{ordinal // size:05}") for ordinal in range(count * size)]
    return groups, members


def _gang(name: str, size: int) -> PodGroup:
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=size))
    return PodGroup(
        metadata=ObjectMeta(name=name, namespace=NAMESPACE, uid=name),
        spec=PodGroupSpec(scheduling_policy=policy),
    )
