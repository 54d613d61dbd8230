"""The work of the race: nodes, groups and pods as an API server accepts them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

NAMESPACE = "race"
RACKS = 50
_RACK_LABEL = "rack"


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    gangs: int
    """0: single pods."""
    pods_each: int
    in_one_rack: bool = False
    with_devices: bool = False
    """Each pod claims one device of its node."""
    goal: float = 1.0
    """How many times as fast as kube-scheduler Posse has to be; for single pods only on a calm machine."""

    @property
    def pod_count(self) -> int:
        return max(self.gangs, 1) * self.pods_each

    def groups(self) -> Iterator[Json]:
        for number in range(self.gangs):
            spec: Json = {"schedulingPolicy": {"gang": {"minCount": self.pods_each}}}
            if self.in_one_rack:
                spec["schedulingConstraints"] = {"topology": [{"key": _RACK_LABEL}]}
            yield {
                "apiVersion": "scheduling.k8s.io/v1beta1",
                "kind": "PodGroup",
                "metadata": {"name": f"gang-{number}", "namespace": NAMESPACE},
                "spec": spec,
            }

    def pods(self) -> Iterator[Json]:
        for number in range(self.pod_count):
            group = f"gang-{number // self.pods_each}" if self.gangs else ""
            yield pod(f"pod-{number}", group)


SHAPES = (
    Shape("1,000 gangs of 3", 1000, 3, goal=5),
    Shape("3 gangs of 1,000", 3, 1000, goal=4),
    Shape("10,000 single pods", 0, 10_000, goal=4),
    Shape("750 gangs of 4, each in one rack", 750, 4, in_one_rack=True, goal=20),
    Shape("3 gangs of 1,000, each in one rack", 3, 1000, in_one_rack=True, goal=15),
    Shape("1,000 gangs of 3, a device for each pod", 1000, 3, with_devices=True, goal=5),
)


def node_name(number: int) -> str:
    return f"node-{number:05}"


def node(number: int) -> Json:
    capacity = {"cpu": "32", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "8"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node_name(number),
            "labels": {
                "kubernetes.io/hostname": node_name(number),
                "topology.kubernetes.io/zone": f"zone-{number % 3}",
                _RACK_LABEL: f"rack-{number % RACKS}",
            },
        },
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def pod(name: str, group: str = "") -> Json:
    container = {
        "name": "main",
        "image": "pause",
        "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}},
    }
    spec: Json = {"containers": [container], "terminationGracePeriodSeconds": 0}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }
