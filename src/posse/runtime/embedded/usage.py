"""How full the nodes are, for a person watching the cluster: a glance, not what decisions are based on."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from posse.engine.nodes.resources import CPU, MEMORY, Amounts, effective_requests, node_allocatable
from posse.model.decoding import ShapeError, decode
from posse.model.node import Node
from posse.model.pod import ENDED_PHASES, Pod
from posse.model.quantity import QuantityError

Json = dict[str, Any]

GPU = "nvidia.com/gpu"
SHOWN_RESOURCES = (CPU, MEMORY, GPU)


@dataclass(frozen=True, slots=True)
class NodeUsage:
    """Requested and allocatable amounts by resource: CPU in thousandths, everything else in whole units."""

    name: str
    pods: int
    used: Amounts
    total: Amounts
    rack: str = ""
    """Value of the label whose name ends in rack; empty without one."""


def node_usage(nodes: Iterable[Json], pods: Iterable[Json]) -> Iterator[NodeUsage]:
    by_node: defaultdict[str, list[Amounts]] = defaultdict(list)
    for pod in pods:
        if pod["spec"].get("nodeName") and (pod.get("status") or {}).get("phase") not in ENDED_PHASES:
            by_node[pod["spec"]["nodeName"]].append(_requested(pod))
    for node in nodes:
        name = node["metadata"]["name"]
        offered, here = _offered(node), by_node[name]
        total = {resource: offered.get(resource, 0) for resource in SHOWN_RESOURCES}
        used = {resource: sum(pod.get(resource, 0) for pod in here) for resource in SHOWN_RESOURCES}
        yield NodeUsage(name, len(here), used, total, _rack(node))


def _rack(node: Json) -> str:
    labels = node["metadata"].get("labels") or {}
    return next((str(value) for key, value in sorted(labels.items()) if key.endswith("rack")), "")


def _requested(pod: Json) -> Amounts:
    """What cannot be read takes nothing: the scheduler does not count on it either."""
    try:
        return effective_requests(decode(Pod, pod))
    except (ShapeError, QuantityError):
        return {}


def _offered(node: Json) -> Amounts:
    try:
        return node_allocatable(decode(Node, node))
    except ShapeError:
        return {}
