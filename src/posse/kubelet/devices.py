"""Devices of simulated nodes, by the name of a set: the classes and slices that drivers would publish."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from posse.controllers.devices.attaching import ATTACH_FAILED, ATTACHABLE_DRIVER, ATTACHED
from posse.kubelet.nodes import TOPOLOGY_PREFIX

Json = dict[str, Any]

GPU_DRIVER = "gpu.example.com"
OTHER_GPU_DRIVER = "gpu.example.org"
PARTITION_DRIVER = "partition.example.com"
NIC_DRIVER = "nic.example.com"
FABRIC_DRIVER = "fabric.example.com"
PCIE_ROOT = "resource.kubernetes.io/pcieRoot"

GPUS_PER_NODE = 8
NICS_PER_NODE = 4
DIVIDED_PER_NODE = 2
FABRIC_DEVICES = 8
ATTACHABLE_DEVICES = 4
# The parts of a device that can be divided: how many there can be, and what each takes of its eight slices.
_PARTS = {"whole": (1, 8), "half": (2, 4), "quarter": (4, 2)}
_SLICE_MEMORY = 10


def device_objects(names: Iterable[str], nodes: Sequence[Json]) -> list[Json]:
    """The objects of these sets for these nodes; a class that several sets have comes once."""
    objects = [obj for name in names for obj in DEVICE_SETS[name](nodes)]
    return list({(obj["kind"], obj["metadata"]["name"]): obj for obj in objects}.values())


def _gpus(nodes: Sequence[Json]) -> Iterator[Json]:
    yield _class(GPU_DRIVER)
    for node in nodes:
        yield _slice(node, GPU_DRIVER, [_gpu(number, "a100", "80Gi") for number in range(GPUS_PER_NODE)])


def _two_vendors(nodes: Sequence[Json]) -> Iterator[Json]:
    """Every other node has devices of the other vendor."""
    yield _class(GPU_DRIVER)
    yield _class(OTHER_GPU_DRIVER)
    for index, node in enumerate(nodes):
        driver, model, memory = (
            (OTHER_GPU_DRIVER, "mi300", "192Gi") if index % 2 else (GPU_DRIVER, "a100", "80Gi")
        )
        yield _slice(node, driver, [_gpu(number, model, memory) for number in range(GPUS_PER_NODE)])


def _nics(nodes: Sequence[Json]) -> Iterator[Json]:
    """Each shares a PCIe root with two of the GPUs."""
    yield _class(NIC_DRIVER)
    for node in nodes:
        devices = [
            {
                "name": f"nic-{number}",
                "attributes": {PCIE_ROOT: {"string": f"root-{number}"}, "rdma": {"bool": True}},
                "capacity": {"bandwidth": {"value": "400G"}},
            }
            for number in range(NICS_PER_NODE)
        ]
        yield _slice(node, NIC_DRIVER, devices)


def _partitions(nodes: Sequence[Json]) -> Iterator[Json]:
    """Devices that can be used whole, or in halves and quarters; counters say what is left of each."""
    yield _class(PARTITION_DRIVER)
    for node in nodes:
        sets = [
            {"name": f"gpu-{number}", "counters": {"slices": {"value": "8"}}}
            for number in range(DIVIDED_PER_NODE)
        ]
        devices = [
            _part(number, size, index, slices)
            for number in range(DIVIDED_PER_NODE)
            for size, (count, slices) in _PARTS.items()
            for index in range(count)
        ]
        yield _slice(node, PARTITION_DRIVER, devices, part=1, parts=2)
        counters = _slice(node, PARTITION_DRIVER, [], part=2, parts=2)
        del counters["spec"]["devices"]
        counters["spec"]["sharedCounters"] = sets
        yield counters


def _fabric(nodes: Sequence[Json]) -> Iterator[Json]:
    """Devices on a network: each rack has a pool for all its nodes. Without racks, all nodes share one."""
    devices = [{"name": f"accelerator-{number}"} for number in range(FABRIC_DEVICES)]
    yield from _pools_of_racks(nodes, FABRIC_DRIVER, devices)


def _attachable(nodes: Sequence[Json]) -> Iterator[Json]:
    """Devices that are attached to the node of a pod before it is bound, which takes some seconds."""
    slow = {
        "bindsToNode": True,
        "bindingConditions": [ATTACHED],
        "bindingFailureConditions": [ATTACH_FAILED],
    }
    devices = [{"name": f"gpu-{number}"} | slow for number in range(ATTACHABLE_DEVICES)]
    yield from _pools_of_racks(nodes, ATTACHABLE_DRIVER, devices)


def _pools_of_racks(nodes: Sequence[Json], driver: str, devices: list[Json]) -> Iterator[Json]:
    yield _class(driver)
    key = f"{TOPOLOGY_PREFIX}rack"
    labels = [(node["metadata"].get("labels") or {}).get(key) for node in nodes]
    for rack in dict.fromkeys(labels):
        name = rack or "fabric"
        spec: Json = {
            "driver": driver,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        }
        requirement = {"key": key, "operator": "In", "values": [rack]}
        selector = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
        spec |= {"nodeSelector": selector} if rack else {"allNodes": True}
        yield _object("ResourceSlice", f"{name}-{driver}") | {"spec": spec}


DEVICE_SETS: Mapping[str, Callable[[Sequence[Json]], Iterator[Json]]] = {
    "gpus": _gpus,
    "two-vendors": _two_vendors,
    "nics": _nics,
    "partitions": _partitions,
    "fabric": _fabric,
    "attachable": _attachable,
}


def _gpu(number: int, model: str, memory: str) -> Json:
    attributes = {
        "model": {"string": model},
        "index": {"int": number},
        "driverVersion": {"version": "1.2.3"},
        PCIE_ROOT: {"string": f"root-{number // 2}"},
    }
    return {"name": f"gpu-{number}", "attributes": attributes, "capacity": {"memory": {"value": memory}}}


def _part(number: int, size: str, index: int, slices: int) -> Json:
    return {
        "name": f"gpu-{number}-{size}-{index}",
        "attributes": {"size": {"string": size}, "parent": {"int": number}},
        "capacity": {"memory": {"value": f"{slices * _SLICE_MEMORY}Gi"}},
        "consumesCounters": [{"counterSet": f"gpu-{number}", "counters": {"slices": {"value": str(slices)}}}],
    }


def _class(driver: str) -> Json:
    selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
    return _object("DeviceClass", driver) | {"spec": {"selectors": [selector]}}


def _slice(node: Json, driver: str, devices: list[Json], part: int = 1, parts: int = 1) -> Json:
    """One part of the pool of a node. It goes with the node."""
    name = node["metadata"]["name"]
    made = _object("ResourceSlice", f"{name}-{driver}" + (f"-{part}" if parts > 1 else ""))
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
    made["metadata"]["ownerReferences"] = [owner]
    pool = {"name": name, "generation": 1, "resourceSliceCount": parts}
    return made | {"spec": {"driver": driver, "pool": pool, "nodeName": name, "devices": devices}}


def _object(kind: str, name: str) -> Json:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}}
