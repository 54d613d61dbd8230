"""Whether a node takes one more pod: a kubelet rejects pods that exceed what the node has.

Schedulers see to it that this does not happen. Two of them may still bind to the same capacity at once.
"""

from collections import Counter
from collections.abc import Hashable
from typing import Any, NamedTuple

from posse.engine.nodes.resources import Amounts, effective_requests, node_allocatable
from posse.model.decoding import ShapeError, decode
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.quantity import QuantityError

Json = dict[str, Any]


class Rejection(NamedTuple):
    reason: str
    message: str


class AdmittedPods:
    """What the pods that nodes have admitted request, by node."""

    def __init__(self) -> None:
        self._admitted: dict[Hashable, tuple[str, Amounts]] = {}
        self._used: dict[str, Counter[str]] = {}

    def admit(self, key: Hashable, pod: Json) -> None:
        """Count a pod that its node has admitted; once is enough."""
        if key not in self._admitted:
            node_name, requests = pod["spec"]["nodeName"], _requests(pod)
            self._admitted[key] = node_name, requests
            self._used.setdefault(node_name, Counter()).update(requests)

    def release(self, key: Hashable) -> None:
        if key in self._admitted:
            node_name, requests = self._admitted.pop(key)
            self._used[node_name].subtract(requests)

    def rejection(self, key: Hashable, pod: Json, node: Json) -> Rejection | None:
        """Return why the node does not take the pod, or None if it does, or did."""
        if key in self._admitted:
            return None
        capacity, used = _allocatable(node), self._used.get(node["metadata"]["name"], Counter())
        for resource, requested in _requests(pod).items():
            # What a node does not offer may come from claims of devices.
            if resource in capacity and requested > capacity[resource] - used[resource]:
                numbers = f"requested: {requested}, used: {used[resource]}, capacity: {capacity[resource]}"
                lack = f"Node didn't have enough resource: {resource}, {numbers}"
                return Rejection(f"OutOf{resource}", f"Pod was rejected: {lack}")
        return None


def _requests(pod: Json) -> Amounts:
    """What cannot be read takes nothing: the scheduler does not count on it either."""
    try:
        return effective_requests(decode(Pod, pod))
    except (ShapeError, QuantityError):
        return {}


def _allocatable(node: Json) -> Amounts:
    try:
        return node_allocatable(decode(Node, node))
    except (ShapeError, QuantityError):
        return {}
