"""Requests of pods and capacity of nodes as integers: CPU in thousandths, everything else in whole units."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush

from posse.model.container import Container
from posse.model.meta import Quantity
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


@lru_cache(maxsize=16384)
def amount(resource: str, quantity: str | float) -> int:
    whole = milli_value(quantity) if resource == CPU else value(quantity)
    return max(0, min(whole, _MAX_WANTED))


def amounts(quantities: Mapping[str, str | int | float]) -> Amounts:
    return {name: amount(name, quantity) for name, quantity in quantities.items()}


def node_allocatable(node: Node) -> Amounts:
    """Unreadable quantities count as zero: the node then takes no pod that needs them."""
    return dict(_offered(tuple((node.status.allocatable or node.status.capacity).items())))


@lru_cache(maxsize=1024)
def _offered(quantities: tuple[tuple[str, Quantity], ...]) -> Mapping[str, int]:
    """Computed once for nodes of equal capacity."""
    offered: Amounts = {}
    for name, quantity in quantities:
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


_FEW = 64
"""So many names may stay without use before their lines are looked at."""
_MANY = 256
"""Lines beyond these are given up soon, if few of them are in use."""


class ResourceLines:
    """Numbers of resource names: each is a line of the node table, until nothing needs the name any more.

    Pods may name any resource, so names come and go with them. A name is in use while a class of pods
    requests it or capacity of it is reserved, and for good if the configuration names it. Names that nodes
    offer are needed without being counted: the node table tells which lines hold an amount.
    """

    def __init__(self) -> None:
        self.line_of: dict[str, int] = {name: line for line, name in enumerate(FIXED_RESOURCES)}
        self.names: list[str] = list(FIXED_RESOURCES)
        """By line; empty where the line is free."""
        self._uses: list[int] = [1] * len(FIXED_RESOURCES)
        self._kept = dict.fromkeys(range(len(FIXED_RESOURCES)))
        self._idle: dict[int, None] = {}
        """Lines without uses that have a name: of resources that only nodes offer, or nothing any more."""
        self._max_idle = _FEW
        self._free: list[int] = []
        """A heap: low lines are reused first, so that the last ones can be given up."""

    def __len__(self) -> int:
        return len(self.names)

    def line(self, name: str) -> int:
        """The line of a name, taken on first use."""
        line = self.line_of.get(name)
        if line is not None:
            return line
        if self._free:
            line = heappop(self._free)
            self.names[line] = name
        else:
            line = len(self.names)
            self.names.append(name)
            self._uses.append(0)
        self.line_of[name] = line
        self._idle[line] = None
        return line

    def keep(self, name: str) -> int:
        """The line of a name that stays in use for good."""
        line = self.line(name)
        if line not in self._kept:
            self._kept[line] = None
            self.hold([line])
        return line

    def hold(self, lines: Iterable[int]) -> None:
        for line in lines:
            self._uses[line] += 1
            self._idle.pop(line, None)

    def release(self, lines: Iterable[int]) -> None:
        for line in lines:
            self._uses[line] -= 1
            if not self._uses[line]:
                self._idle[line] = None

    def due_for_review(self) -> Sequence[int]:
        """Lines without uses, once there are so many that looking at them pays."""
        unused = len(self._idle) + len(self._free)
        is_nearly_empty = len(self.names) > _MANY and 4 * unused > 3 * len(self.names)
        return sorted(self._idle) if is_nearly_empty or len(self._idle) > self._max_idle else ()

    def free(self, lines: Iterable[int]) -> None:
        """Take the names from lines that nothing needs, and give up the last lines."""
        for line in lines:
            del self.line_of[self.names[line]]
            self.names[line] = ""
            del self._idle[line]
            heappush(self._free, line)
        # What nodes offer stays; it is not looked at again before as much has been added.
        self._max_idle = 2 * len(self._idle) + _FEW
        before = len(self.names)
        while not self.names[-1]:
            self.names.pop()
            self._uses.pop()
        if len(self.names) < before:
            # In order, as a heap is.
            self._free = sorted(line for line in self._free if line < len(self.names))
