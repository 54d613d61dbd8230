"""A node beyond a limit (see posse.model.limits) takes no pods. Those that run on it still count there."""

from itertools import islice

from msgspec.structs import replace

from posse.engine.nodes.resources import FIXED_RESOURCES
from posse.model.node import Node

_MAX_LABELS = 1_000


def closed_node(node: Node) -> Node:
    offered = node.status.allocatable or node.status.capacity
    kept = {name: offered[name] for name in FIXED_RESOURCES if name in offered}
    labels = dict(islice(node.metadata.labels.items(), _MAX_LABELS))
    return replace(
        node,
        metadata=replace(node.metadata, labels=labels),
        spec=replace(node.spec, unschedulable=True, taints=()),
        status=replace(node.status, allocatable=kept, capacity=kept, images=()),
    )
