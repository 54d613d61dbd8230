"""An API server in plain Python: objects with versions, what may be written, and the log that watches read.

It knows nothing of schedulers, and refuses writes for the reasons for which a real server does.
"""

from dataclasses import dataclass

import msgspec

from posse.kinds.machinery.errors import conflict, not_found
from posse.kinds.machinery.patching import strategic_merge_patch
from posse.kinds.registry import POD
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.meta import Condition
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.timestamps import format_timestamp
from posse.model.workload import CompositePodGroup, PodGroup
from tests.support.builders import changed

KINDS = (Node, PodDisruptionBudget, PodGroup, Pod)
"""In the order in which a scheduler lists them."""
KINDS_WITH_TREES = (Node, PodDisruptionBudget, CompositePodGroup, PodGroup, Pod)
FINISHED = frozenset({"Succeeded", "Failed"})
_BEGIN = 1767225600.0
"""Virtual time is counted from here, as far as timestamps show it."""


@dataclass(frozen=True, slots=True)
class Change:
    obj: Node | PodDisruptionBudget | CompositePodGroup | PodGroup | Pod
    is_gone: bool


class World:
    def __init__(self, kinds=KINDS):
        self.now = 0.0
        self.kinds = kinds
        self.objects = {kind: {} for kind in kinds}
        """By name; everything lives in one namespace."""
        self.log = {kind: [] for kind in kinds}
        self._version = 0
        self._made = 0

    @property
    def nodes(self):
        return self.objects[Node]

    @property
    def groups(self):
        return self.objects[PodGroup]

    @property
    def composites(self):
        return self.objects.get(CompositePodGroup, {})

    @property
    def pods(self):
        return self.objects[Pod]

    @property
    def budgets(self):
        return self.objects[PodDisruptionBudget]

    def timestamp(self):
        return format_timestamp(_BEGIN + self.now)

    def create(self, obj):
        """Take the object in as a new one, whatever had its name before."""
        self._made += 1
        uid = f"{obj.metadata.name}.{self._made}"
        return self.put(changed(obj, metadata={"uid": uid, "creation_timestamp": self.timestamp()}))

    def put(self, obj):
        self._version += 1
        stored = changed(obj, metadata={"resource_version": str(self._version)})
        self.objects[type(obj)][obj.metadata.name] = stored
        self.log[type(obj)].append(Change(stored, is_gone=False))
        return stored

    def remove(self, obj):
        self._version += 1
        gone = self.objects[type(obj)].pop(obj.metadata.name)
        self.log[type(obj)].append(Change(gone, is_gone=True))

    def delete_pod(self, pod):
        """What is on a node is given time to end; everything else goes at once."""
        if not pod.spec.node_name or pod.status.phase in FINISHED:
            self.remove(pod)
        elif not pod.metadata.deletion_timestamp:
            self.put(changed(pod, metadata={"deletion_timestamp": self.timestamp()}))

    def find(self, kind, name, uid=""):
        """Return the object of this name, if it is still the one with this uid."""
        found = self.objects[kind.struct].get(name)
        if found is None:
            raise not_found(kind, name)
        if uid and found.metadata.uid != uid:
            raise conflict(kind, name, "another uid")
        return found

    def bindable(self, ref):
        """Return the pod if it may be bound."""
        pod = self.find(POD, ref.name, ref.uid)
        if pod.metadata.deletion_timestamp:
            raise conflict(POD, ref.name, "it is being deleted")
        if pod.spec.node_name:
            raise conflict(POD, ref.name, f"it is already assigned to {pod.spec.node_name}")
        if pod.spec.scheduling_gates:
            raise conflict(POD, ref.name, "it has scheduling gates")
        return pod

    def bind(self, ref, node):
        pod = self.bindable(ref)
        conditions = with_condition(pod.status.conditions, Condition(type="PodScheduled", status="True"))
        status = {"conditions": conditions, "nominated_node_name": ""}
        self.put(changed(pod, spec={"node_name": node}, status=status))

    def patch(self, kind, name, patch):
        """Apply a strategic merge patch, as an API server does."""
        obj = self.find(kind, name, patch.body["metadata"]["uid"])
        stored = msgspec.json.decode(msgspec.json.encode(obj))
        self.put(msgspec.convert(strategic_merge_patch(kind.struct, stored, patch.body), kind.struct))

    def pods_on(self, node):
        """Return the pods that take room on the node."""
        return [
            pod
            for pod in self.pods.values()
            if pod.spec.node_name == node and pod.status.phase not in FINISHED
        ]


def with_condition(conditions, condition):
    return (*(each for each in conditions if each.type != condition.type), condition)
