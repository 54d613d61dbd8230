"""What pods hold and where: their GPUs, and the racks of their nodes."""

from collections import Counter
from collections.abc import Iterable, Mapping

from posse.engine.nodes.resources import effective_requests
from posse.model.node import Node
from posse.model.pod import ENDED_PHASES, Pod
from posse.model.quantity import QuantityError

RACK = "rack"


def is_gpu(resource: str) -> bool:
    return "gpu" in resource.lower() or resource.startswith("nvidia.com/mig")


def requests_of(pod: Pod) -> dict[str, int]:
    """Requests that cannot be read count as none: such a pod is not scheduled."""
    try:
        return effective_requests(pod)
    except QuantityError:
        return {}


def gpus_of(pods: Iterable[Pod]) -> int:
    """GPUs that the pods request, finished pods left out."""
    return sum(
        amount
        for pod in pods
        if pod.status.phase not in ENDED_PHASES
        for resource, amount in requests_of(pod).items()
        if is_gpu(resource)
    )


def rack_label(nodes: Iterable[Node]) -> str:
    return domain_label(nodes, RACK)


def domain_label(nodes: Iterable[Node], noun: str) -> str:
    """The label of nodes that names such a domain; the most frequent if there are several, empty if none."""
    keys = Counter(
        key for node in nodes for key in node.metadata.labels if key.rpartition("/")[2].lower() == noun
    )
    return max(keys, key=lambda key: (keys[key], key), default="")


def domains_of(pods: Iterable[Pod], nodes: Mapping[str, Node], label: str) -> list[str]:
    """Values of the label on the nodes of running pods, sorted."""
    running = (pod.spec.node_name for pod in pods if pod.status.phase not in ENDED_PHASES)
    labels = (nodes[name].metadata.labels for name in running if name in nodes)
    return sorted({values[label] for values in labels if label in values})
