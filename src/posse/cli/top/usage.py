"""Usage of one resource: held by running pods, reserved, free, and requested by waiting pods."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.ended_members import has_ended
from posse.cli.reading.placements import is_gpu, requests_of
from posse.engine.groups.forms import group_of
from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import CPU, PODS, node_allocatable
from posse.model.node import Node
from posse.model.pod import Pod

ALONE = "(no group)"
UNLABELLED = "(none)"


@dataclass(slots=True)
class ResourceUsage:
    """Amounts of one resource: CPU in thousandths, everything else in whole units."""

    held: int = 0
    pods: int = 0
    """Pods that hold some of it."""
    waiting: int = 0
    """Requested by pods that have no node."""
    reserved: int = 0
    """Kept for pods that wait for victims on a nominated node, or for a group that has waited long."""
    total: int = 0
    """Of nodes; 0 for what is not a set of nodes."""
    closed: int = 0
    """Free, but on cordoned nodes."""
    nodes: dict[str, None] = field(default_factory=dict)
    """Nodes with pods that hold some of it; for a set of nodes, all of them."""

    @property
    def free(self) -> int:
        """Without what is reserved."""
        return max(0, self.total - self.held - self.reserved)

    def add(self, other: "ResourceUsage") -> None:
        self.held += other.held
        self.pods += other.pods
        self.waiting += other.waiting
        self.reserved += other.reserved
        self.total += other.total
        self.closed += other.closed
        self.nodes |= other.nodes


Key = tuple[str, str]
"""Namespace and name; the namespace is empty for what has none."""


def resources_of(nodes: Iterable[Node]) -> list[str]:
    """Resources that any node has, GPUs first, then the order of the nodes; without the slots for pods."""
    found = dict.fromkeys(name for node in nodes for name in node_allocatable(node) if name != PODS)
    return sorted(found, key=lambda name: not is_gpu(name))


def default_resource(nodes: Iterable[Node]) -> str:
    return next((name for name in resources_of(nodes) if is_gpu(name)), CPU)


def by_pods(
    survey: Survey, resource: str, namespace: str | None, key_of: Callable[[Pod], Key]
) -> dict[Key, ResourceUsage]:
    """Usage by what pods have in common; in all namespaces if None."""
    found: dict[Key, ResourceUsage] = {}
    for pod, usage in _pod_usages(survey, resource):
        if namespace not in {None, pod.metadata.namespace}:
            continue
        found.setdefault(key_of(pod), ResourceUsage()).add(usage)
    return found


def add_guarded(survey: Survey, resource: str, found: dict[Key, ResourceUsage]) -> None:
    """Add what is reserved for groups that wait, where they are listed."""
    for guarded in survey.engine.guarded_capacity():
        key = (guarded.group.namespace, _short(guarded.group))
        if key in found:
            found[key].reserved += sum(amounts.get(resource, 0) for amounts in guarded.by_node.values())


def by_nodes(survey: Survey, resource: str, name_of: Callable[[Node], str]) -> dict[Key, ResourceUsage]:
    """Usage by what nodes have in common, with their capacity."""
    on_node: dict[str, ResourceUsage] = {}
    for pod, usage in _pod_usages(survey, resource):
        name = pod.spec.node_name or pod.status.nominated_node_name
        if name:
            usage.waiting = 0
            on_node.setdefault(name, ResourceUsage()).add(usage)
    guarded = survey.engine.guarded_capacity()
    found: dict[Key, ResourceUsage] = {}
    for name, node in survey.nodes.items():
        usage = on_node.get(name, ResourceUsage())
        usage.reserved += sum(one.by_node.get(name, {}).get(resource, 0) for one in guarded)
        usage.total = node_allocatable(node).get(resource, 0)
        usage.nodes = {name: None}
        usage.closed = usage.free if node.spec.unschedulable else 0
        if usage.total or usage.held:
            found.setdefault(("", name_of(node)), ResourceUsage()).add(usage)
    return found


def total_of(survey: Survey, resource: str) -> ResourceUsage:
    total = ResourceUsage()
    for usage in by_nodes(survey, resource, lambda node: node.metadata.name).values():
        total.add(usage)
    total.waiting = sum(usage.waiting for _, usage in _pod_usages(survey, resource))
    return total


def gang_of(pod: Pod) -> Key:
    key = group_of(pod)
    if key is None:
        return pod.metadata.namespace, ALONE
    return key.namespace, _short(key)


def _short(key: GroupKey) -> str:
    return "/".join(filter(None, (key.name, key.pod_group, key.replica_key)))


def namespace_of(pod: Pod) -> Key:
    return "", pod.metadata.namespace


def label_of(label: str) -> Callable[[Node], str]:
    return lambda node: node.metadata.labels.get(label, UNLABELLED)


def _pod_usages(survey: Survey, resource: str) -> Iterator[tuple[Pod, ResourceUsage]]:
    for pod in survey.pods.values():
        amount = 0 if has_ended(pod) else requests_of(pod).get(resource, 0)
        if not amount:
            continue
        if pod.spec.node_name:
            yield pod, ResourceUsage(held=amount, pods=1, nodes={pod.spec.node_name: None})
        elif not pod.metadata.deletion_timestamp:
            reserved = amount if pod.status.nominated_node_name else 0
            yield pod, ResourceUsage(waiting=amount, reserved=reserved)
