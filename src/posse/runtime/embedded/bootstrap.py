"""The objects every cluster has from the start."""

from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import NAMESPACE, PRIORITY_CLASS
from posse.kinds.scheduling.priority_classes import SYSTEM_CLASSES

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
CLASS_DESCRIPTIONS = {
    "system-cluster-critical": "For pods the cluster cannot do without, but which may move to another node.",
    "system-node-critical": "For pods a node cannot do without and which must stay where they are.",
}


def bootstrap_objects() -> list[tuple[Kind, str, Json]]:
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


def _named(kind: Kind, name: str) -> Json:
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name}}
