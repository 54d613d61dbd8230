"""Requests of pods and capacity of nodes as integers: CPU in thousandths, everything else in whole units."""

from collections.abc import Mapping
from dataclasses import dataclass

from posse.model.container import Container
from posse.model.node import Node
from posse.model.pod import Pod, PodSpec
from posse.model.quantity import QuantityError, milli_value, value

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
FIXED_RESOURCES = (CPU, MEMORY, PODS, EPHEMERAL_STORAGE)
"""Resources of every node, in this order: those that nearly every pod requests are adjacent."""

Amounts = dict[str, int]

_MAX_OFFERED = 2**52
"""Upper limit of allocatable amounts, so that sums over thousands of pods and scores stay within 64 bits."""
_MAX_WANTED = _MAX_OFFERED + 1
"""Requests are cut to more than any node can offer, so a cut request fits nowhere."""

_NATIVE_DOMAIN = "kubernetes.io/"
_ALWAYS_SCORED = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE})

_ASSUMED: Amounts = {CPU: 100, MEMORY: 200 * 1024 * 1024}
"""Requests that scores assume for a container without any."""


def amount(resource: str, quantity: str | float) -> int:
    whole = milli_value(quantity) if resource == CPU else value(quantity)
    return max(0, min(whole, _MAX_WANTED))


def amounts(quantities: Mapping[str, str | int | float]) -> Amounts:
    return {name: amount(name, quantity) for name, quantity in quantities.items()}


def node_allocatable(node: Node) -> Amounts:
    """Unreadable quantities count as zero: the node then takes no pod that needs them."""
    offered: Amounts = {}
    for name, quantity in (node.status.allocatable or node.status.capacity).items():
        try:
            offered[name] = min(amount(name, quantity), _MAX_OFFERED)
        except QuantityError:
            offered[name] = 0
    return offered


def effective_requests(pod: Pod) -> Amounts:
    """The pod's requests, including one of the node's pod slots; without zero requests."""
    needed = _needed(pod, {})
    needed[PODS] = 1
    return {name: wanted for name, wanted in needed.items() if wanted > 0}


def scoring_requests(pod: Pod) -> tuple[int, int]:
    """CPU and memory as scores see them: a container without a request counts with a default.

    Where the pod has pod-level requests, a default is assumed only for resources without any request.
    """
    assumed = _ASSUMED
    if _pod_level(pod):
        asked_for = _needed(pod, {})
        assumed = {name: default for name, default in _ASSUMED.items() if name not in asked_for}
    needed = _needed(pod, assumed)
    return needed.get(CPU, 0), needed.get(MEMORY, 0)


def container_requests(spec: PodSpec) -> Amounts:
    """Requests of a new pod for resource scores: the sum of its containers and its overhead.

    Containers without a request for CPU or memory count with a default. Pod-level requests are ignored here,
    as in kube-scheduler, although they count once the pod is on a node.
    """
    needed = _peak(spec, _ASSUMED)
    _add(needed, amounts(spec.overhead))
    return needed


def is_extended(resource: str) -> bool:
    """Whether the resource is not native to Kubernetes, but named by another domain."""
    return "/" in resource and _NATIVE_DOMAIN not in resource and not resource.startswith("requests.")


def is_scalar(resource: str) -> bool:
    """Whether only some nodes have the resource and only some pods request it."""
    return (
        is_extended(resource)
        or _NATIVE_DOMAIN in resource
        or resource.startswith(("hugepages-", "attachable-volumes-"))
    )


def is_scored(resource: str, wanted: int) -> bool:
    """Whether scores include the resource, for a pod that requests this much of it."""
    return resource in _ALWAYS_SCORED or (wanted > 0 and is_scalar(resource))


def _needed(pod: Pod, assumed: Amounts) -> Amounts:
    """All requests of the pod; `assumed` replaces requests that a container does not state."""
    needed = _peak(pod.spec, assumed)
    needed.update(_pod_level(pod))
    _add(needed, amounts(pod.spec.overhead))
    return needed


def _peak(spec: PodSpec, assumed: Amounts) -> Amounts:
    """The larger of running containers and the peak of initialization, by resource."""
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.init_containers:
        if container.restart_policy == "Always":
            _add(sidecars, _requests(container, assumed))
            _raise_to(peak, sidecars)
        else:
            while_it_runs = dict(sidecars)
            _add(while_it_runs, _requests(container, assumed))
            _raise_to(peak, while_it_runs)
    running = sidecars
    for container in spec.containers:
        _add(running, _requests(container, assumed))
    _raise_to(running, peak)
    return running


def _pod_level(pod: Pod) -> Amounts:
    """Requests made for the pod as a whole replace the sum of its containers."""
    return amounts(pod.spec.resources.requests) if pod.spec.resources is not None else {}


def _requests(container: Container, assumed: Amounts) -> Amounts:
    return {**assumed, **amounts(container.resources.requests)}


def _add(total: Amounts, more: Amounts) -> None:
    for name, wanted in more.items():
        total[name] = min(total.get(name, 0) + wanted, _MAX_WANTED)


def _raise_to(total: Amounts, floor: Amounts) -> None:
    for name, wanted in floor.items():
        total[name] = max(total.get(name, 0), wanted)


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Resources that another component manages are ignored; only extended resources can be."""

    ignored: tuple[str, ...] = ()
    ignored_groups: tuple[str, ...] = ()
    """Domains: example.com stands for example.com/gpu and any other resource with that prefix."""
    are_enforced: bool = True
    """If False, nodes are never full."""

    def cover(self, resource: str) -> bool:
        if not self.are_enforced or not is_extended(resource):
            return self.are_enforced
        return resource not in self.ignored and resource.partition("/")[0] not in self.ignored_groups


ALL_LIMITED = ResourceLimits()
NOTHING_LIMITED = ResourceLimits(are_enforced=False)
