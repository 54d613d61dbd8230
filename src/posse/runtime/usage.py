"""How full the nodes are, for a person watching the cluster: a glance, not what decisions are based on."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from posse.model.quantity import QuantityError, milli_value

Json = dict[str, Any]

CPU = "cpu"
GPU = "nvidia.com/gpu"
MEMORY = "memory"
SHOWN_RESOURCES = (CPU, MEMORY, GPU)
ENDED_PHASES = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """Requested and allocatable amounts by resource, in thousandths."""

    name: str
    pods: int
    used: dict[str, int]
    total: dict[str, int]


def node_usage(nodes: Iterable[Json], pods: Iterable[Json]) -> Iterator[NodeUsage]:
    """Yield how full each node is; init containers and overhead are left out."""
    by_node: dict[str, list[Json]] = {}
    for pod in pods:
        if pod["spec"].get("nodeName") and (pod.get("status") or {}).get("phase") not in ENDED_PHASES:
            by_node.setdefault(pod["spec"]["nodeName"], []).append(pod)
    for node in nodes:
        name = node["metadata"]["name"]
        here = by_node.get(name, [])
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        total = {resource: _amount(allocatable, resource) for resource in SHOWN_RESOURCES}
        used = {resource: sum(_requested(pod, resource) for pod in here) for resource in SHOWN_RESOURCES}
        yield NodeUsage(name, len(here), used, total)


def _requested(pod: Json, resource: str) -> int:
    containers = pod["spec"].get("containers") or []
    return sum(_amount((item.get("resources") or {}).get("requests") or {}, resource) for item in containers)


def _amount(amounts: Json, resource: str) -> int:
    try:
        return milli_value(amounts.get(resource, 0))
    except QuantityError:
        return 0
