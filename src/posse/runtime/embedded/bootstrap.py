"""Creates the objects that a cluster has from the start: namespaces, priority classes, simulated nodes,
examples.

Objects that exist are left as they are, so a restart changes nothing.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from posse.kinds.core.cluster_addresses import API_ADDRESS
from posse.kinds.machinery.errors import ALREADY_EXISTS, ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import DEVICE_CLASS, NAMESPACE, NODE, PRIORITY_CLASS, RESOURCE_SLICE, SERVICE
from posse.kinds.scheduling.priority_classes import SYSTEM_CLASSES
from posse.kubelet.devices import device_objects
from posse.kubelet.nodes import Level, has_domains, is_simulated, missing_nodes, numbered_nodes
from posse.transport.transport import Transport

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
CLASS_DESCRIPTIONS = {
    "system-cluster-critical": "For pods the cluster cannot do without, but which may move to another node.",
    "system-node-critical": "For pods a node cannot do without and which must stay where they are.",
}
# Enough for one group commit to be worth its while, few enough to stay responsive in between.
MAX_BATCH = 1000

# Kind, namespace ("" for none), object.
Item = tuple[Kind, str, Json]


def bootstrap_objects() -> list[Item]:
    namespaces = [(NAMESPACE, "", _named(NAMESPACE, name)) for name in NAMESPACES]
    classes = [
        (
            PRIORITY_CLASS,
            "",
            _named(PRIORITY_CLASS, name) | {"value": value, "description": CLASS_DESCRIPTIONS[name]},
        )
        for name, value in SYSTEM_CLASSES.items()
    ]
    return namespaces + classes


def api_service() -> Item:
    """The Service by which pods would reach the API; nothing listens on its address."""
    service = _named(SERVICE, "kubernetes")
    service["metadata"]["labels"] = {"component": "apiserver", "provider": "kubernetes"}
    port = {"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}
    return SERVICE, "default", service | {"spec": {"clusterIP": API_ADDRESS, "ports": [port]}}


def _named(kind: Kind, name: str) -> Json:
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name}}


@dataclass(frozen=True, slots=True)
class EnsuredNodes:
    """Simulated nodes of a cluster that starts."""

    before: int
    """Those that it had, which stay as they are."""
    differing: int
    """Of these, how many have other domains than the levels that are asked for now."""
    added: int


async def ensure_nodes(
    transport: Transport, count: int, topology: Sequence[Level], now: float
) -> EnsuredNodes:
    """Create simulated nodes until there are `count` nodes."""
    existing = numbered_nodes((await transport.list(NODE)).items)
    missing = missing_nodes(count, topology, [node["metadata"]["name"] for node in existing], now)
    await create_missing(transport, [(NODE, "", node) for node in missing])
    differing = sum(1 for node in existing if not has_domains(node, topology))
    return EnsuredNodes(len(existing), differing, len(missing))


async def ensure_devices(transport: Transport, sets: Sequence[str]) -> None:
    """Create the classes and slices of these sets for the simulated nodes, as far as they do not exist."""
    if not sets:
        return
    nodes = [node for node in (await transport.list(NODE)).items if is_simulated(node)]
    kinds = {kind.name: kind for kind in (DEVICE_CLASS, RESOURCE_SLICE)}
    await create_missing(transport, [(kinds[obj["kind"]], "", obj) for obj in device_objects(sets, nodes)])


async def create_missing(transport: Transport, items: Sequence[Item]) -> None:
    for start in range(0, len(items), MAX_BATCH):
        batch = items[start : start + MAX_BATCH]
        await asyncio.gather(*(_create(transport, item) for item in batch))


async def _create(transport: Transport, item: Item) -> None:
    try:
        await transport.create(*item)
    except ApiError as error:
        if error.reason != ALREADY_EXISTS:
            raise
