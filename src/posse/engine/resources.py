"""What a pod asks for and what a node offers, as integers: CPU in thousandths, everything else in whole units."""

from collections.abc import Callable, Mapping

from posse.model.container import Container
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.quantity import QuantityError, milli_value, value

CPU, MEMORY, EPHEMERAL_STORAGE, PODS = "cpu", "memory", "ephemeral-storage", "pods"
FIXED_RESOURCES = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)

Amounts = dict[str, int]

_LARGEST = 2**52
"""Amounts are capped here, so that sums over thousands of pods and scores times 100 stay within 64 bits."""

_SCORING_CPU, _SCORING_MEMORY = 100, 200 * 1024 * 1024
"""What scores assume of a container that requests nothing."""


def amount(resource: str, quantity: str | float) -> int:
    whole = milli_value(quantity) if resource == CPU else value(quantity)
    return max(0, min(whole, _LARGEST))


def amounts(quantities: Mapping[str, str | int | float]) -> Amounts:
    return {name: amount(name, quantity) for name, quantity in quantities.items()}


def node_allocatable(node: Node) -> Amounts:
    """Quantities nobody can read count as nothing: the node then takes no pod that needs them."""
    offered: Amounts = {}
    for name, quantity in (node.status.allocatable or node.status.capacity).items():
        try:
            offered[name] = amount(name, quantity)
        except QuantityError:
            offered[name] = 0
    return offered


def effective_requests(pod: Pod) -> Amounts:
    """What the pod needs of a node, one of its pod slots included; resources it needs none of are left out."""
    needed = _peak(pod, _requests)
    needed.update(_pod_level(pod))
    _add(needed, amounts(pod.spec.overhead))
    needed[PODS] = 1
    return {name: wanted for name, wanted in needed.items() if wanted > 0}


def scoring_requests(pod: Pod) -> tuple[int, int]:
    """CPU and memory as scores see them: a container without a request counts with a default."""
    needed = _peak(pod, _requests_with_defaults)
    needed.update(_pod_level(pod))
    _add(needed, amounts(pod.spec.overhead))
    return needed.get(CPU, 0), needed.get(MEMORY, 0)


def _peak(pod: Pod, requests_of: Callable[[Container], Amounts]) -> Amounts:
    """The running containers or the peak while initialising, whichever is more, resource by resource."""
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        if container.restart_policy == "Always":
            _add(sidecars, requests_of(container))
            _raise_to(peak, sidecars)
        else:
            while_it_runs = dict(sidecars)
            _add(while_it_runs, requests_of(container))
            _raise_to(peak, while_it_runs)
    running = sidecars
    for container in pod.spec.containers:
        _add(running, requests_of(container))
    _raise_to(running, peak)
    return running


def _pod_level(pod: Pod) -> Amounts:
    """Requests made for the pod as a whole replace the sum of its containers."""
    return amounts(pod.spec.resources.requests) if pod.spec.resources is not None else {}


def _requests(container: Container) -> Amounts:
    return amounts(container.resources.requests)


def _requests_with_defaults(container: Container) -> Amounts:
    return {CPU: _SCORING_CPU, MEMORY: _SCORING_MEMORY, **_requests(container)}


def _add(total: Amounts, more: Amounts) -> None:
    for name, wanted in more.items():
        total[name] = total.get(name, 0) + wanted


def _raise_to(total: Amounts, floor: Amounts) -> None:
    for name, wanted in floor.items():
        total[name] = max(total.get(name, 0), wanted)
