"""A rule in its surroundings: nodes, the pods on them, and the pod that asks."""

from posse.engine.events import Observed
from posse.engine.intake.cluster_events import ClusterEvents
from posse.engine.intake.knowledge import no_knowledge
from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.queue.backlog import USUAL_BACKOFF
from posse.engine.rules.profile import Profile
from tests.support.builders import SCHEDULER, changed


class Surroundings:
    def __init__(self, nodes, there=(), profile=None):
        """`there` are pods on nodes already, as (pod, name of the node)."""
        self.knowledge = no_knowledge({SCHEDULER: profile or Profile()}, USUAL_BACKOFF)
        self._events = ClusterEvents(self.knowledge)
        for obj in (*nodes, *(changed(pod, spec={"node_name": name}) for pod, name in there)):
            self.see(obj)

    def see(self, obj):
        self._events.absorb(Observed(obj))

    def read_outdated(self):
        self._events.read_outdated()

    @property
    def state(self):
        return self.knowledge.state

    def scheduling_class(self, pod):
        self.see(pod)
        return self.state.scheduling_class(self.knowledge.pods[pod.metadata.uid])

    def compiled(self, rule, pod):
        return rule.compile(self.scheduling_class(pod), self.state.context)

    def points(self, rule, pod):
        """Points of the nodes in the order in which they came; None if the rule does not care."""
        made = self.compiled(rule, pod)
        return made.points(ALL_ROWS)[: len(self.state.nodes)].tolist() if made is not None else None

    def passes(self, rule, pod):
        """Names of the nodes that pass."""
        made = self.compiled(rule, pod)
        passes = made.passes(ALL_ROWS) if made is not None else self.state.nodes.alive
        return [name for name, row in self.state.nodes.row_of.items() if passes[row]]
