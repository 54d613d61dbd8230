"""Clusters to simulate: nodes of one shape, or a list of nodes or hosts with their topology."""

import csv
from collections.abc import Iterable, Mapping, Sequence

from posse.kubelet.nodes import TOPOLOGY_PREFIX, Level, node_name, topology_labels
from posse.model.meta import ObjectMeta
from posse.model.node import Node, NodeSpec, NodeStatus
from posse.simulation.jobs import GPU
from posse.simulation.trace_reading import TraceError

_LEVELS = ("zone", "block", "rack")


def equal_nodes(count: int, gpus: int, levels: Sequence[Level] = ()) -> list[Node]:
    return [
        _node(node_name(ordinal), gpus, 32_000, topology_labels(ordinal, levels))
        for ordinal in range(1, count + 1)
    ]


def _node(name: str, gpus: int, cpu_milli: int, topology: Mapping[str, str], model: str = "") -> Node:
    labels = {**topology, "kubernetes.io/hostname": name}
    if model:
        labels["nvidia.com/gpu.product"] = model
    amounts: dict[str, str | int | float] = {
        "cpu": f"{cpu_milli}m",
        "memory": "1Ti",
        "pods": "250",
        GPU: str(gpus),
    }
    return Node(
        metadata=ObjectMeta(name=name, uid=name, labels=labels),
        spec=NodeSpec(),
        status=NodeStatus(allocatable=amounts, capacity=amounts),
    )


def read_nodes(lines: Iterable[str], file: str, gpus: int) -> list[Node]:
    """A list of nodes (`sn`, `cpu_milli`, `gpu`) or of hosts (`host`, `gpus`, `zone`, `block`, `rack`).

    `gpus` is what a host has whose GPUs are not said. TraceError: a column is missing, or no number.
    """
    rows = csv.DictReader(lines)
    columns = rows.fieldnames or ()
    if "host" in columns:
        return [_host(row, number, file, gpus) for number, row in enumerate(rows, start=2)]
    if "sn" in columns and "gpu" in columns:
        return [
            _node(
                row["sn"],
                _number(row, "gpu", number, file),
                _number(row, "cpu_milli", number, file),
                {},
                row.get("model", ""),
            )
            for number, row in enumerate(rows, start=2)
        ]
    raise TraceError(
        f"{file}: line 1: neither a list of nodes (sn, cpu_milli, gpu) nor of hosts (host, gpus, rack)"
    )


def _host(row: Mapping[str, str], number: int, file: str, gpus: int) -> Node:
    domains = {TOPOLOGY_PREFIX + level: row[level] for level in _LEVELS if row.get(level)}
    found = _number(row, "gpus", number, file) if row.get("gpus") else gpus
    return _node(row["host"], found, 32_000, domains)


def _number(row: Mapping[str, str], name: str, line: int, file: str) -> int:
    text = row.get(name) or ""
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise TraceError(f"{file}: line {line}: {name}: {text!r} is not a whole number of 0 or more")
    return int(text)


def total_gpus(nodes: Sequence[Node]) -> int:
    return sum(int(node.status.allocatable.get(GPU, 0)) for node in nodes)
