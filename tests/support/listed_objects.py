"""A cluster given as lists of objects, for verbs that read one."""

from posse.cli.reading.owners import DEPLOYMENT
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import (
    DEVICE_CLASS,
    JOB,
    JOB_SET,
    NODE,
    POD,
    POD_GROUP,
    PRIORITY_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_QUOTA,
    RESOURCE_SLICE,
    WORKLOAD,
)

MADE = "2026-01-01T00:00:00Z"
NOW = 1767225660.0


class ListedObjects:
    """A source of the objects it was given."""

    default_namespace = "team"

    def __init__(self, **objects: list) -> None:
        kinds = {"jobs": JOB, "jobsets": JOB_SET, "deployments": DEPLOYMENT, "nodes": NODE, "pods": POD}
        kinds |= {"groups": POD_GROUP, "workloads": WORKLOAD, "priority_classes": PRIORITY_CLASS}
        kinds |= {"device_classes": DEVICE_CLASS, "slices": RESOURCE_SLICE, "claims": RESOURCE_CLAIM}
        kinds |= {"quotas": RESOURCE_QUOTA}
        self._objects = {kinds[name].name: (kinds[name], found) for name, found in objects.items()}

    def now(self) -> float:
        return NOW

    def settings(self) -> list:
        return []

    def serves(self, kind: Kind) -> bool:
        return kind.name in self._objects

    def objects(self, kind, namespace, _tell):
        own, found = self._objects.get(kind.name, (kind, []))
        if own.group_kind != kind.group_kind:
            return
        for obj in found:
            if namespace in {None, obj["metadata"].get("namespace", "")}:
                yield obj | {"apiVersion": kind.api_version, "kind": kind.name}


def made(name, owner=None, labels=None, **content):
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "creationTimestamp": MADE}
    if owner:
        kind, owner_name = owner.split("/")
        reference = {"kind": kind, "name": owner_name, "uid": f"uid-{owner_name}", "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"metadata": metadata | {"labels": labels or {}}, **content}


def node(name, rack="", gpus=8):
    allocatable = {"cpu": "32", "memory": "64Gi", "pods": "100", "nvidia.com/gpu": str(gpus)}
    metadata = {"name": name, "uid": name, "labels": {"topology.posse.dev/rack": rack} if rack else {}}
    return {"metadata": metadata, "status": {"allocatable": allocatable}}


def pod(name, owner=None, group="", node_name="", gpus=0):
    spec = {"schedulerName": "default-scheduler", "nodeName": node_name}
    requests = {"cpu": "1"} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    spec["containers"] = [{"name": "c", "resources": {"requests": requests}}]
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return made(name, owner, spec=spec, status={"phase": "Running" if node_name else "Pending"})


def gang(name, minimum, owner=None, labels=None, **spec):
    return made(
        name, owner, labels, spec={"schedulingPolicy": {"gang": {"minCount": minimum}}, **spec}, status={}
    )
