"""Pods that wait at a scheduling gate until they have been put into their group, which Posse does by a label.

Labels of a pod may change after it was made, its spec may not; so this needs no webhook.
"""

from typing import Any

Json = dict[str, Any]

GATE = "scheduling.posse.dev/pod-group"
GROUP_LABEL = "scheduling.posse.dev/pod-group"


def is_waiting(pod: Json) -> bool:
    return any(gate.get("name") == GATE for gate in pod["spec"].get("schedulingGates") or ())


def let_through(pod: Json, metadata: Json) -> Json:
    """Return a pod with this metadata, free to be scheduled as far as Posse has a say in it."""
    gates = [gate for gate in pod["spec"].get("schedulingGates") or () if gate.get("name") != GATE]
    spec = {name: value for name, value in pod["spec"].items() if name != "schedulingGates"}
    return {**pod, "metadata": metadata, "spec": spec | ({"schedulingGates": gates} if gates else {})}


def joined(pod: Json, group: str) -> Json:
    """Return a pod in its group."""
    metadata = pod["metadata"]
    return let_through(pod, metadata | {"labels": (metadata.get("labels") or {}) | {GROUP_LABEL: group}})
