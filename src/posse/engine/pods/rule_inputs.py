"""Changes of pods and nodes that no rule reads: API servers send every change, and rules read little."""

from msgspec.structs import replace

from posse.model.node import Node
from posse.model.pod import Pod


def same_but_for_node(known: Pod, pod: Pod) -> bool:
    """A confirmed binding changes nothing: the pod counts on its node since the decision."""
    if known.status.resource_claim_statuses != pod.status.resource_claim_statuses:
        return False
    return known.metadata.deletion_timestamp == pod.metadata.deletion_timestamp and (
        known.spec == pod.spec or replace(known.spec, node_name=pod.spec.node_name) == pod.spec
    )


def same_membership(known: Pod, pod: Pod) -> bool:
    """Membership by the spec is permanent; labels and annotations may change at any time."""
    before, now = known.metadata, pod.metadata
    return before.labels == now.labels and before.annotations == now.annotations


def same_to_rules(known: Node, node: Node) -> bool:
    """Heartbeats change nodes all the time; rules read only these fields."""
    return (
        known.spec == node.spec
        and known.metadata.labels == node.metadata.labels
        and known.status.allocatable == node.status.allocatable
        and known.status.capacity == node.status.capacity
        and known.status.images == node.status.images
    )
