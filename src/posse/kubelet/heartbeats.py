"""The sign of life of a simulated node: a Lease, renewed at a pace that keeps the total rate bounded."""

import math
from typing import Any

from posse.model.timestamps import format_micro_timestamp

Json = dict[str, Any]

LEASE_NAMESPACE = "kube-node-lease"
SHORTEST_INTERVAL_SECONDS = 10.0
MOST_HEARTBEATS_PER_SECOND = 50.0
# A node counts as silent after this many missed heartbeats.
MISSED_HEARTBEATS = 4


def heartbeat_seconds(node_count: int) -> float:
    return max(SHORTEST_INTERVAL_SECONDS, node_count / MOST_HEARTBEATS_PER_SECOND)


def node_lease(node: Json, interval_seconds: float, now: float) -> Json:
    """Return the lease as the node's kubelet would keep it; it belongs to the node and goes with it."""
    name, uid = node["metadata"]["name"], node["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]},
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": math.ceil(MISSED_HEARTBEATS * interval_seconds),
            "renewTime": format_micro_timestamp(now),
        },
    }
