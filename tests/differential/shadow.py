"""A cluster in a few dicts around a real engine: what the API holds, what the engine was told, what it promised.

Watch events reach the engine late but in order; answers to bindings may overtake them, as they do in life.
"""

from dataclasses import dataclass, field

from posse.engine.decisions import Bind, Evict, ReportPod
from posse.engine.engine import Engine
from posse.engine.events import BindRefused, EvictionFailed, Observed, Vanished
from posse.engine.groups.forms import group_of
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.model.node import Node
from posse.model.pod import Pod
from tests.support.builders import changed

OURS = "default-scheduler"
FINISHED = ("Succeeded", "Failed")


@dataclass
class Objects:
    """Nodes by name, pods by uid, groups by key."""

    nodes: dict = field(default_factory=dict)
    pods: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)

    def put(self, obj):
        if isinstance(obj, Node):
            self.nodes[obj.metadata.name] = obj
        elif not isinstance(obj, Pod):
            self.groups[GroupKey(obj.metadata.namespace, obj.metadata.name)] = obj
        elif obj.status.phase in FINISHED:
            self.pods.pop(obj.metadata.uid, None)
        else:
            self.pods[obj.metadata.uid] = obj

    def drop(self, obj):
        if isinstance(obj, Node):
            self.nodes.pop(obj.metadata.name, None)
        elif isinstance(obj, Pod):
            self.pods.pop(obj.metadata.uid, None)
        else:
            self.groups.pop(GroupKey(obj.metadata.namespace, obj.metadata.name), None)


class Shadow:
    def __init__(self):
        self.engine = Engine(EngineOptions())
        self.now = 1000.0
        self.api = Objects()
        self.seen = Objects()
        self.promised = {}
        """Node by uid of pods whose binding was decided and has not been refused."""
        self.nominated = {}
        """Node by uid of waiting pods for which room is being made, as they were last told."""
        self.undelivered = []
        self.unanswered = []
        """Placements and evictions that are not carried out yet."""
        self.log = []
        """Everything the engine was told or asked, for replays."""

    # What happens in the cluster.

    def write(self, obj):
        self.api.put(obj)
        self.undelivered.append(Observed(obj))

    def erase(self, obj):
        self.api.drop(obj)
        self.undelivered.append(Vanished(obj))

    def deliver(self, count):
        for event in self.undelivered[:count]:
            self._tell(event)
        del self.undelivered[:count]

    def _tell(self, event):
        self.log.append(event)
        self.engine.absorb(event)
        if isinstance(event, Observed):
            self.seen.put(event.obj)
        elif isinstance(event, Vanished):
            self.seen.drop(event.obj)
        elif isinstance(event, BindRefused):
            if self.promised.get(event.pod_uid) == event.node:
                del self.promised[event.pod_uid]
            return
        else:
            return
        if isinstance(event.obj, Pod) and event.obj.metadata.uid not in self.seen.pods:
            self.promised.pop(event.obj.metadata.uid, None)
            self.nominated.pop(event.obj.metadata.uid, None)

    # What is done about the engine's decisions.

    def answer(self, count, *, outage=False, lost=False):
        """Carry out bindings and evictions. In an outage none succeeds; lost answers report failure all the same."""
        answered = self.unanswered[:count]
        del self.unanswered[:count]
        for asked in answered:
            if isinstance(asked, Evict):
                self._answer_eviction(asked, outage=outage, lost=lost)
            else:
                self._answer_binding(asked, outage=outage, lost=lost)

    def _answer_eviction(self, eviction, *, outage, lost):
        pod = self.api.pods.get(eviction.pod.uid)
        if pod is not None and not outage:
            self.erase(pod)
        if outage or lost:
            self._tell(EvictionFailed(eviction.pod.uid, "failed"))

    def _answer_binding(self, placement, *, outage, lost):
        pod = self.api.pods.get(placement.pod.uid)
        accepted = (
            not outage
            and pod is not None
            and not pod.spec.node_name
            and not pod.metadata.deletion_timestamp
            and not pod.spec.scheduling_gates
        )
        if accepted:
            self.write(changed(pod, spec={"node_name": placement.node}))
        if not accepted or lost:
            self._tell(BindRefused(placement.pod.uid, placement.node, "refused"))

    def decide(self, after):
        """Let the engine decide until it has nothing left to do; returns its decisions."""
        self.now += after
        decisions = []
        while True:
            self.log.append(self.now)
            decisions += self.engine.decide(self.now)
            if not self.engine.has_work:
                return decisions

    def promise(self, bind: Bind):
        for placement in bind.placements:
            self.promised[placement.pod.uid] = placement.node
            self.nominated.pop(placement.pod.uid, None)
            self.unanswered.append(placement)

    def note(self, decision):
        """Remember what pods are told and who is to be evicted."""
        if isinstance(decision, Evict):
            self.unanswered.append(decision)
        elif isinstance(decision, ReportPod) and decision.nominated_node:
            self.nominated[decision.pod.uid] = decision.nominated_node
        elif isinstance(decision, ReportPod):
            self.nominated.pop(decision.pod.uid, None)

    # What the engine has to believe, given what it was told.

    def node_of(self, uid):
        return self.seen.pods[uid].spec.node_name or self.promised.get(uid, "")

    def pods_on(self, node):
        return [pod for uid, pod in self.seen.pods.items() if self.node_of(uid) == node]

    def holding_against(self, uid, node):
        """Return the pods for which room on the node is held against this one."""
        priority = self.seen.pods[uid].spec.priority or 0
        nominees = [
            self.seen.pods[one] for one, name in self.nominated.items() if name == node and one != uid
        ]
        return [one for one in nominees if (one.spec.priority or 0) >= priority]

    def members(self, key):
        return {uid: pod for uid, pod in self.seen.pods.items() if group_of(pod) == key}

    def is_waiting(self, uid):
        pod = self.seen.pods[uid]
        return (
            not self.node_of(uid)
            and not pod.metadata.deletion_timestamp
            and not pod.spec.scheduling_gates
            and pod.spec.scheduler_name == OURS
        )

    def world_for(self, uid):
        """Return nodes with the pods on them, and with those for which room is held against this pod."""
        return [
            (node, self.pods_on(name) + self.holding_against(uid, name))
            for name, node in self.seen.nodes.items()
        ]
