"""What the simulated nodes of an embedded cluster look like: names, labels, topology, capacity, readiness.

Topology levels nest: with `block=2,rack=4` each of 2 blocks holds 4 racks. Nodes are dealt out like cards,
over the blocks first, so any number of nodes is spread evenly and a node added later never moves an earlier
one.
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from posse.controllers.disruption.failures import FAILURE, FailureMode, failure_of
from posse.kubelet.addresses import NODE_NETWORK
from posse.model.timestamps import format_timestamp
from posse.version import VERSION

Json = dict[str, Any]

SIMULATED_LABEL = "posse.dev/simulated"
"""Label of nodes whose kubelet is simulated."""
_NODE_NAME = re.compile(r"node-\d{4,}")
TOPOLOGY_PREFIX = "topology.posse.dev/"
MOST_DOMAINS = 1_000_000
READY_MESSAGE = "this node is simulated by Posse: its pods run in name only"
KUBELET_HOST = "localhost"
"""Where a real control plane finds the kubelets: what answers for all of them runs beside it."""
NOT_READY_MESSAGE = f"this node is simulated by Posse, and told to fail by the annotation {FAILURE}"

CAPACITY = {
    "cpu": "32",
    "memory": "256Gi",
    "ephemeral-storage": "1Ti",
    "nvidia.com/gpu": "8",
    "pods": "110",
}


class TopologyError(ValueError):
    """The text of --topology cannot be read; the message says which part and what it should look like."""


@dataclass(frozen=True, slots=True)
class Level:
    """One layer of the topology: how many of it there are in each domain of the layer above."""

    name: str
    count: int


def parse_topology(text: str) -> tuple[Level, ...]:
    """Read `block=2,rack=4`, widest level first. An empty text means no topology."""
    levels = tuple(_parse_level(part.strip(), text) for part in text.split(",")) if text.strip() else ()
    names = [level.name for level in levels]
    if len(set(names)) != len(names):
        raise TopologyError(f'"{text}" names a level twice')
    domains = 1
    for level in levels:
        domains *= level.count
    if domains > MOST_DOMAINS:
        raise TopologyError(f'"{text}" makes {domains} domains, more than {MOST_DOMAINS}')
    return levels


def _parse_level(part: str, text: str) -> Level:
    name, separator, count = part.partition("=")
    if not separator or not (count.isascii() and count.isdigit()) or int(count[:9]) < 1 or len(count) > 9:
        raise TopologyError(f'"{part}" in "{text}" should be LEVEL=COUNT with a count of at least 1')
    if not _is_label_name(name):
        raise TopologyError(
            f'"{name}" in "{text}" is not a level name: use lower-case letters, digits and "-"'
        )
    return Level(name, int(count))


def _is_label_name(name: str) -> bool:
    plain = name.replace("-", "")
    return plain.isascii() and plain.isalnum() and name == name.lower().strip("-") and len(name) <= 40


def missing_nodes(count: int, levels: Sequence[Level], existing: Iterable[str], now: float) -> list[Json]:
    """Return new nodes, with the lowest free numbers, so that there are `count` of this naming.

    Deleted nodes stay deleted while there are enough others.
    """
    there = {name for name in existing if _NODE_NAME.fullmatch(name)}
    free = (ordinal for ordinal in itertools.count(1) if node_name(ordinal) not in there)
    wanted = itertools.islice(free, max(0, count - len(there)))
    return [simulated_node(ordinal, levels, now) for ordinal in wanted]


def numbered_nodes(existing: Iterable[Json]) -> list[Json]:
    """Return the nodes of this naming."""
    return [node for node in existing if _NODE_NAME.fullmatch(node["metadata"]["name"])]


def has_domains(node: Json, levels: Sequence[Level]) -> bool:
    """Whether a node of this naming has the domains that these levels give it."""
    labels = node["metadata"].get("labels") or {}
    wanted = topology_labels(int(node["metadata"]["name"].removeprefix("node-")), levels)
    return all(labels.get(key) == value for key, value in wanted.items())


def node_name(ordinal: int) -> str:
    return f"node-{ordinal:04d}"


def simulated_node(ordinal: int, levels: Sequence[Level], now: float) -> Json:
    name = node_name(ordinal)
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        SIMULATED_LABEL: "true",
    }
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels | topology_labels(ordinal, levels)},
        "spec": {},
    }
    return node | {"status": node_status(node, str(NODE_NETWORK[ordinal]), now)}


def topology_labels(ordinal: int, levels: Sequence[Level]) -> dict[str, str]:
    """Return the node's domain at each level; a domain's name contains that of the one it lies in."""
    labels = {}
    rest, path = ordinal - 1, ""
    for level in levels:
        rest, index = divmod(rest, level.count)
        path = f"{path}{'-' if path else ''}{level.name}-{index + 1}"
        labels[TOPOLOGY_PREFIX + level.name] = path
    return labels


def is_simulated(node: Json) -> bool:
    return (node["metadata"].get("labels") or {}).get(SIMULATED_LABEL) == "true"


def is_ready(node: Json) -> bool:
    status = node.get("status") or {}
    conditions = {item.get("type"): item.get("status") for item in status.get("conditions") or []}
    return conditions.get("Ready") == "True" and bool(status.get("allocatable")) and bool(address_of(node))


def address_of(node: Json) -> str:
    return _address(node, "InternalIP")


def is_reported(node: Json) -> bool:
    """Whether the node's status says what its kubelet has to say, and where to reach it."""
    if _address(node, "InternalDNS") != KUBELET_HOST or _not_offered(node):
        return False
    if failure_of(node) is not FailureMode.NOT_READY:
        return is_ready(node)
    conditions = (node.get("status") or {}).get("conditions") or []
    return any(item.get("type") == "Ready" and item.get("status") == "False" for item in conditions)


def _address(node: Json, kind: str) -> str:
    addresses = (node.get("status") or {}).get("addresses") or []
    return next((item.get("address", "") for item in addresses if item.get("type") == kind), "")


def _not_offered(node: Json) -> Json:
    """Extended resources that were added to the capacity; a kubelet offers them to pods."""
    status = node.get("status") or {}
    capacity, offered = status.get("capacity") or {}, status.get("allocatable") or {}
    return {name: amount for name, amount in capacity.items() if "/" in name and name not in offered}


def node_status(node: Json, address: str, now: float) -> Json:
    """Return the status that the node's kubelet reports; what its author said about capacity stands."""
    status = node.get("status") or {}
    name = node["metadata"]["name"]
    capacity = status.get("capacity") or CAPACITY
    others = [item for item in status.get("conditions") or [] if item.get("type") != "Ready"]
    return {
        "capacity": capacity,
        "allocatable": {**(status.get("allocatable") or capacity), **_not_offered(node)},
        "conditions": [*others, _ready_condition(now, failure_of(node))],
        "addresses": [
            {"type": "InternalIP", "address": address},
            {"type": "Hostname", "address": name},
            {"type": "InternalDNS", "address": KUBELET_HOST},
        ],
        "nodeInfo": _node_info(name),
    }


def _ready_condition(now: float, failure: FailureMode | None) -> Json:
    time = format_timestamp(now)
    is_failing = failure is FailureMode.NOT_READY
    return {
        "type": "Ready",
        "status": "False" if is_failing else "True",
        "reason": "KubeletNotReady" if is_failing else "SimulatedNode",
        "message": NOT_READY_MESSAGE if is_failing else READY_MESSAGE,
        "lastHeartbeatTime": time,
        "lastTransitionTime": time,
    }


def _node_info(name: str) -> Json:
    return {
        "machineID": name,
        "systemUUID": name,
        "bootID": name,
        "kernelVersion": "simulated",
        "osImage": "simulated",
        "containerRuntimeVersion": f"posse://{VERSION}",
        "kubeletVersion": f"v{VERSION}-posse",
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }
