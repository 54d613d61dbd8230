"""Pods that any rule would treat alike form one class: it is compiled once, and asked once for all of them.

The signature is the encoded form of every field that some rule reads. A cluster has few classes and many pods.
"""

from dataclasses import dataclass, field

import msgspec

from posse.engine.node_table import NodeTable
from posse.engine.resources import effective_requests, scoring_requests
from posse.model.pod import Pod, PodSpec

_encoder = msgspec.msgpack.Encoder(order="deterministic")


@dataclass(slots=True, eq=False)
class PodClass:
    spec: PodSpec
    """The spec of the first member; rules read only what the signature covers."""
    requests: tuple[tuple[int, int], ...]
    """(resource index, amount), only what is more than nothing."""
    scoring: tuple[int, int]
    signature: bytes
    member_count: int = field(default=0)


def signature_of(pod: Pod) -> bytes:
    spec = pod.spec
    return _encoder.encode(
        (
            [(c.resources, c.restart_policy) for c in spec.init_containers],
            [c.resources for c in spec.containers],
            spec.resources,
            spec.overhead,
            spec.node_selector,
            spec.affinity.node_affinity if spec.affinity is not None else None,
            spec.tolerations,
        )
    )


class ClassTable:
    """Classes with at least one member. A class leaves with its last member, and its columns with it."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._classes: dict[bytes, PodClass] = {}

    def __len__(self) -> int:
        return len(self._classes)

    def join(self, pod: Pod) -> PodClass:
        signature = signature_of(pod)
        pod_class = self._classes.get(signature)
        if pod_class is None:
            pod_class = self._classes[signature] = self._compile(pod, signature)
        pod_class.member_count += 1
        return pod_class

    def leave(self, pod_class: PodClass) -> bool:
        """Whether that was the last member."""
        pod_class.member_count -= 1
        if pod_class.member_count == 0:
            del self._classes[pod_class.signature]
        return pod_class.member_count == 0

    def _compile(self, pod: Pod, signature: bytes) -> PodClass:
        requests = tuple(
            sorted((self._nodes.resource(name), wanted) for name, wanted in effective_requests(pod).items())
        )
        return PodClass(pod.spec, requests, scoring_requests(pod), signature)
