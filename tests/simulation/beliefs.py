"""What a process knew of nodes and groups when it made a decision, to judge the writes that follow from it much later."""

from dataclasses import dataclass

from posse.engine.decisions import Bind
from tests.simulation.knowledge import group_name, minimum_of, room_of


@dataclass(frozen=True, slots=True)
class NodeBelief:
    node: str
    room: tuple[int, int]
    pods: frozenset[str]
    """On the node, or promised to it, this decision included."""


@dataclass(frozen=True, slots=True)
class GroupBelief:
    group: str
    minimum: int
    seen: frozenset[str]
    """Members that were seen on nodes."""


class Beliefs:
    def __init__(self, knowledge, decisions):
        binds = [decision for decision in decisions if isinstance(decision, Bind)]
        places = dict.fromkeys(placement.node for bind in binds for placement in bind.placements)
        self.nodes = {place: _node_belief(knowledge, place) for place in places}
        pods = [
            knowledge.pods[one.pod.uid] for bind in binds if bind.group is not None for one in bind.placements
        ]
        groups = dict.fromkeys(group_name(pod) for pod in pods)
        self.groups = {name: _group_belief(knowledge, name) for name in groups}


def _node_belief(knowledge, name):
    pods = frozenset(pod.metadata.uid for pod in knowledge.pods_on(name))
    return NodeBelief(name, room_of(knowledge.nodes[name]), pods)


def _group_belief(knowledge, name):
    attached = knowledge.attached(name)
    seen = frozenset(pod.metadata.uid for pod in attached if pod.spec.node_name)
    return GroupBelief(name, minimum_of(knowledge.groups[name]), seen)
