"""What a scheduler process has been told and has promised, in plain dicts: the measure of every decision it makes.

It is kept beside the engine from the same events and decisions, and never looks into the engine.
"""

from dataclasses import dataclass, field

from posse.engine.decisions import Bind, Evict, ReportGroup, ReportPod
from posse.engine.events import BindRefused, EvictionFailed, Observed, ReportWithheld, Vanished
from posse.engine.keys import GroupRef
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.workload import CompositePodGroup, PodGroup
from tests.simulation.world import FINISHED


def cpu_of(pod):
    return int(pod.spec.containers[0].resources.requests["cpu"])


def room_of(node):
    """Return how much CPU and how many pods the node offers."""
    return int(node.status.allocatable["cpu"]), int(node.status.allocatable["pods"])


def group_name(pod):
    reference = pod.spec.scheduling_group
    return reference.pod_group_name if reference is not None else ""


def minimum_of(group):
    policy = group.spec.scheduling_policy
    return policy.gang.min_count if policy.gang is not None else 1


def group_minimum_of(composite):
    """Return how many of its groups must start before any does."""
    gang = composite.spec.scheduling_policy.gang
    return gang.min_group_count if gang is not None else 1


def parent_of(obj):
    return obj.spec.parent_composite_pod_group_name or ""


def topology_key(group):
    """Return the label of which all members must have one value; empty if they may be anywhere."""
    constraints = group.spec.scheduling_constraints
    return constraints.topology[0].key if constraints is not None and constraints.topology else ""


def accepts(node, pod):
    """Whether the pod may go to the node, room aside."""
    wanted = pod.spec.node_selector.items()
    return not node.spec.unschedulable and all(
        node.metadata.labels.get(key) == value for key, value in wanted
    )


@dataclass(slots=True)
class Knowledge:
    nodes: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)
    composites: dict = field(default_factory=dict)
    completed: set = field(default_factory=set)
    """Names of groups of which a member has succeeded since the object was seen."""
    pods: dict = field(default_factory=dict)
    """Unfinished pods, by uid."""
    promised: dict = field(default_factory=dict)
    """Where pods go by decisions of which nothing has been heard yet; by uid."""
    answered: set = field(default_factory=set)
    """Uids of pods whose binding was carried out; those of which it was refused are promised nothing any more."""
    nominated: dict = field(default_factory=dict)
    """Where room is made for waiting pods; by uid."""
    told: dict = field(default_factory=dict)
    """Where pods were last told that room is made for them, also if they were to be bound since; by uid."""
    evicted: set = field(default_factory=set)
    """Uids of the pods whose eviction was decided."""
    started: set = field(default_factory=set)
    """Uids of groups that were rightly reported as started."""
    kept: list = field(default_factory=list)
    """For which groups room was kept in the round that is judged: name, priority, names of nodes."""

    def absorb(self, event):
        if isinstance(event, BindRefused):
            if self.promised.get(event.pod_uid) == event.node:
                del self.promised[event.pod_uid]
        elif isinstance(event, EvictionFailed):
            self.evicted.discard(event.pod_uid)
        elif isinstance(event, ReportWithheld) and event.group.name in self.groups:
            self.started.discard(self.groups[event.group.name].metadata.uid)
        elif isinstance(event, Observed):
            self._observed(event.obj)
        elif isinstance(event, Vanished):
            self._vanished(event.obj)

    def _observed(self, obj):
        if isinstance(obj, Node):
            self.nodes[obj.metadata.name] = obj
        elif isinstance(obj, CompositePodGroup):
            self.composites[obj.metadata.name] = obj
        elif isinstance(obj, PodGroup):
            self.groups[obj.metadata.name] = obj
        elif isinstance(obj, PodDisruptionBudget):
            # They decide between victims. Whether there have to be any is judged without them.
            return
        elif obj.status.phase in FINISHED:
            if obj.status.phase == "Succeeded":
                self.completed.add(group_name(obj))
            self._vanished(obj)
        else:
            self._pod_observed(obj)

    def _pod_observed(self, pod):
        uid = pod.metadata.uid
        if uid not in self.pods and pod.status.nominated_node_name and not pod.spec.node_name:
            self.nominated[uid] = pod.status.nominated_node_name
        self.pods[uid] = pod
        if pod.spec.node_name:
            self.promised.pop(uid, None)
            self.nominated.pop(uid, None)

    def _vanished(self, obj):
        if isinstance(obj, Pod):
            for known in (self.pods, self.promised, self.nominated):
                known.pop(obj.metadata.uid, None)
        elif isinstance(obj, CompositePodGroup):
            self.composites.pop(obj.metadata.name, None)
        elif isinstance(obj, Node):
            self.nodes.pop(obj.metadata.name, None)
        else:
            self.groups.pop(obj.metadata.name, None)
            self.completed.discard(obj.metadata.name)

    def note(self, decision):
        """Count on the decision from now on, as the engine does."""
        if isinstance(decision, Evict):
            self.evicted.add(decision.pod.uid)
        if isinstance(decision, ReportGroup) and decision.scheduled:
            self.started.add(decision.uid)
        if isinstance(decision, Bind):
            for placement in decision.placements:
                self.promised[placement.pod.uid] = placement.node
                self.answered.discard(placement.pod.uid)
                self.nominated.pop(placement.pod.uid, None)
        elif isinstance(decision, Evict) and not isinstance(decision.preemptor, GroupRef):
            self.nominated[decision.preemptor.uid] = decision.node
        elif isinstance(decision, ReportPod):
            self.nominated.pop(decision.pod.uid, None)
            self.told[decision.pod.uid] = decision.nominated_node
            if decision.nominated_node:
                self.nominated[decision.pod.uid] = decision.nominated_node

    def is_ending(self, pod):
        """Whether its place will be free whatever happens: it is being deleted, or was evicted before."""
        return bool(pod.metadata.deletion_timestamp) or pod.metadata.uid in self.evicted

    def place_of(self, pod):
        return pod.spec.node_name or self.promised.get(pod.metadata.uid, "")

    def pods_on(self, node):
        return [pod for pod in self.pods.values() if self.place_of(pod) == node]

    def members(self, name):
        return [pod for pod in self.pods.values() if group_name(pod) == name]

    def attached(self, name, promised=None):
        """Return who is on a node or promised there; of the promised only these, by uid, if they are given."""
        return [
            pod
            for pod in self.members(name)
            if pod.spec.node_name
            or (self.place_of(pod) and (promised is None or pod.metadata.uid in promised))
        ]

    def domains_of(self, name):
        """Return the domains in which members of a group are, None for nodes that are in none."""
        return self._domains(topology_key(self.groups[name]), self.attached(name))

    def domains_of_tree(self, name):
        """Return the same of everybody below a group of groups."""
        below = [pod for leaf in self.leaves(name) for pod in self.attached(leaf)]
        return self._domains(topology_key(self.composites[name]), below)

    def _domains(self, key, pods):
        there = [self.nodes[place] for place in map(self.place_of, pods) if place in self.nodes]
        return {node.metadata.labels.get(key) for node in there} if key else set()

    def ancestors(self, name):
        """Return the groups of groups above a group, from its parent up, as far as they are known; each once."""
        above, parent = [], parent_of(self.groups[name])
        while parent in self.composites and parent not in above:
            above.append(parent)
            parent = parent_of(self.composites[parent])
        return above

    def is_part_of_a_tree(self, name):
        return bool(parent_of(self.groups[name]))

    def root_of(self, name):
        """Return the name of the topmost group of groups above a group; empty if that is not known, or there is none."""
        above = self.ancestors(name) if name in self.groups else []
        return above[-1] if above and not parent_of(self.composites[above[-1]]) else ""

    def below(self, name):
        """Return the names of groups, and of groups of groups, that name this one as their parent."""
        leaves = [leaf for leaf, group in self.groups.items() if parent_of(group) == name]
        return leaves, [one for one, composite in self.composites.items() if parent_of(composite) == name]

    def leaves(self, name):
        """Return the names of all groups of pods below; groups of groups may be each other's ancestors."""
        found, seen = [], [name]
        for one in seen:
            leaves, composites = self.below(one)
            found += leaves
            seen += [other for other in composites if other not in seen]
        return found

    def started_children(self, name, promised=None, above=()):
        """Return how many groups right below this one have started; those that may have run to their end are counted.

        No group below itself has started.
        """
        leaves, composites = self.below(name)
        above = (*above, name)
        started = [one for one in leaves if len(self.attached(one, promised)) >= minimum_of(self.groups[one])]
        over = [one for one in leaves if one in self.completed and one not in started]
        grown = [
            one
            for one in composites
            if one not in above
            and self.started_children(one, promised, above) >= group_minimum_of(self.composites[one])
        ]
        return len(started) + len(over) + len(grown)

    def waiting(self):
        """Return the pods that need a node and may have one."""
        return [
            pod
            for pod in self.pods.values()
            if not self.place_of(pod)
            and not pod.metadata.deletion_timestamp
            and not pod.spec.scheduling_gates
        ]

    def rank(self, pod):
        """Return the priority with which the pod counts; a member counts with that of its group."""
        group = self.groups.get(group_name(pod))
        root = self.root_of(group_name(pod))
        if root:
            return self.composites[root].spec.priority or 0
        return (group.spec.priority if group is not None else pod.spec.priority) or 0

    def free(self, node, priority, besides=()):
        """Return what is left of the node for a pod of this priority: CPU and pods.

        Capacity that is being freed for a pod of equal priority is not free. `besides` are uids that do not count.
        """
        holding = [
            self.pods[uid]
            for uid, place in self.nominated.items()
            if place == node.metadata.name and self.rank(self.pods[uid]) >= priority
        ]
        taking = [
            pod for pod in (*self.pods_on(node.metadata.name), *holding) if pod.metadata.uid not in besides
        ]
        cpu, count = room_of(node)
        return cpu - sum(cpu_of(pod) for pod in taking), count - len(taking)

    def kept_from(self, priority, name=""):
        """Return the nodes with room that is kept for others than this group which matter as much."""
        return {node for key, rank, nodes in self.kept if key != name and rank >= priority for node in nodes}

    def fits(self, pod, node, besides=()):
        """Whether the pod could go to the node now, with the pods `besides` out of the way."""
        cpu, count = self.free(node, self.rank(pod), {pod.metadata.uid, *besides})
        return accepts(node, pod) and cpu >= cpu_of(pod) and count >= 1
