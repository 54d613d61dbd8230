"""The life of a cluster, made up from a seed: the events of an engine, as a log that can be run again.

Pods are named after what they bring along ("p7-spread"), so that a reader of the decisions knows what was placed.
"""

import random

from posse.engine.decisions import Bind, Evict, ReportPod
from posse.engine.engine import Engine
from posse.engine.events import BindRefused, EvictionFailed, Observed, Vanished
from posse.engine.options import EngineOptions
from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.meta import LabelSelector, ObjectMeta
from posse.model.placement import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from tests.differential.recording import write_event
from tests.support.builders import (
    CREATED,
    NAMESPACE,
    changed,
    gang,
    node,
    pod,
    required_affinity,
    requirement,
    taint,
    toleration,
)

ZONES = ["east", "west", "north"]
APPS = ["web", "db", "queue"]
PRIORITIES = [0, 0, 10, 100]
HOSTNAME = "kubernetes.io/hostname"


def pods_of(app):
    return LabelSelector(match_labels={"app": app})


def near(app):
    term = PodAffinityTerm(label_selector=pods_of(app), topology_key="zone")
    return Affinity(pod_affinity=PodAffinity(required_during_scheduling_ignored_during_execution=(term,)))


def far_from(app):
    """Never on a node with such a pod, and rather not in its zone."""
    apart = PodAffinityTerm(label_selector=pods_of(app), topology_key=HOSTNAME)
    elsewhere = PodAffinityTerm(label_selector=pods_of(app), topology_key="zone")
    wish = WeightedPodAffinityTerm(weight=50, pod_affinity_term=elsewhere)
    return Affinity(
        pod_anti_affinity=PodAntiAffinity(
            required_during_scheduling_ignored_during_execution=(apart,),
            preferred_during_scheduling_ignored_during_execution=(wish,),
        )
    )


def spread(app):
    hard, soft = (
        TopologySpreadConstraint(
            max_skew=1, topology_key=key, when_unsatisfiable=otherwise, label_selector=pods_of(app)
        )
        for key, otherwise in (("zone", "DoNotSchedule"), (HOSTNAME, "ScheduleAnyway"))
    )
    return hard, soft


class Recorder:
    """Makes the life up, and writes down the events of an engine."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.engine = Engine(EngineOptions())
        self.lines = []
        self.now = 0.0
        self.pods = {}
        self.nodes = {}
        self.ending = []
        """Evicted pods that have not gone yet."""
        self.created = 0

    def tell(self, event):
        self.lines.append(write_event(event))
        self.engine.absorb(event)

    def record(self, rounds):
        for ordinal in range(30):
            self.add_node(ordinal)
        steps = [self.add_pod, self.add_pod, self.add_gang, self.change_node, self.end_pod, self.set_budget]
        for _ in range(rounds):
            for _ in range(self.random.randint(1, 6)):
                self.random.choice(steps)()
            self.decide()
        return self.lines

    def add_node(self, ordinal):
        name = f"n{ordinal}"
        labels = {"zone": self.random.choice(ZONES), HOSTNAME: name, "disk": "ssd"}
        made = node(
            name,
            cpu=str(self.random.randint(2, 8)),
            labels=labels,
            taints=[taint("gpu")] if ordinal % 7 == 0 else [],
            **({"example.com/gpu": "4"} if ordinal % 7 == 0 else {}),
        )
        self.nodes[made.metadata.name] = made
        self.tell(Observed(made))

    def change_node(self):
        made = self.random.choice(list(self.nodes.values()))
        if self.random.random() < 0.3:
            self.tell(Vanished(made))
        self.tell(Observed(changed(made, spec={"unschedulable": self.random.random() < 0.3})))

    def set_budget(self):
        """Allow another number of disruptions among the pods of an app."""
        app = self.random.choice(APPS)
        budget = PodDisruptionBudget(
            metadata=ObjectMeta(name=app, namespace=NAMESPACE, uid=f"budget-{app}"),
            spec=PodDisruptionBudgetSpec(selector=pods_of(app)),
            status=PodDisruptionBudgetStatus(disruptions_allowed=self.random.randint(0, 2)),
        )
        self.tell(Observed(budget))

    def add_pod(self):
        app, other = self.random.choice(APPS), self.random.choice(APPS)
        what, wish = self.random.choice(
            [
                ("plain", {}),
                ("picky", {"node_selector": {"zone": self.random.choice(ZONES)}}),
                (
                    "choosy",
                    {
                        "affinity": required_affinity(
                            [requirement("zone", "NotIn", *self.random.sample(ZONES, 2))]
                        )
                    },
                ),
                ("gpu", {"tolerations": (toleration("gpu"),), "requests": {"example.com/gpu": "1"}}),
                ("near", {"affinity": near(other)}),
                ("far", {"affinity": far_from(other)}),
                ("spread", {"topology_spread_constraints": spread(app)}),
            ]
        )
        self.introduce(what, {**wish, "priority": self.random.choice(PRIORITIES)}, app)

    def add_gang(self):
        self.created += 1
        name, size = f"g{self.created}", self.random.randint(2, 12)
        app = self.random.choice(APPS)
        wish = self.random.choice([{}, {}, {"topology_spread_constraints": spread(app)}])
        self.tell(Observed(gang(name, size)))
        for _ in range(size):
            self.introduce("member", {**wish, "group": name}, app)

    def introduce(self, what, wish, app):
        self.created += 1
        cpu = self.random.choice(["250m", "500m", "1"])
        made = pod(f"p{self.created}-{what}", cpu, "256Mi", **wish)
        self.see(changed(made, metadata={"labels": {"app": app}}))

    def see(self, made):
        self.pods[made.metadata.uid] = made
        self.tell(Observed(made))

    def lose(self, uid):
        self.tell(Vanished(self.pods.pop(uid)))

    def end_pod(self):
        bound = [uid for uid, made in self.pods.items() if made.spec.node_name and uid not in self.ending]
        if bound:
            self.lose(self.random.choice(bound))

    def decide(self):
        self.now += self.random.choice([0.1, 1.0, 30.0])
        self.lines.append({"decide": self.now})
        for decision in self.engine.decide(self.now):
            if isinstance(decision, Bind):
                for placement in decision.placements:
                    self.answer(placement)
            elif isinstance(decision, Evict):
                self.evict(decision.pod.uid)
            elif isinstance(decision, ReportPod):
                self.note_nomination(decision)
        self.end_evicted()

    def answer(self, placement):
        if self.random.random() < 0.1:
            self.tell(BindRefused(placement.pod.uid, placement.node, "refused"))
        else:
            self.see(changed(self.pods[placement.pod.uid], spec={"node_name": placement.node}))

    def evict(self, uid):
        if self.random.random() < 0.3:
            self.tell(EvictionFailed(uid, "refused"))
        else:
            self.ending.append(uid)
            self.see(changed(self.pods[uid], metadata={"deletion_timestamp": CREATED}))

    def end_evicted(self):
        """Some take their time, so that decisions are made while victims are still there."""
        gone = [uid for uid in self.ending if self.random.random() < 0.5]
        self.ending = [uid for uid in self.ending if uid not in gone]
        for uid in gone:
            self.lose(uid)

    def note_nomination(self, report):
        known = self.pods[report.pod.uid]
        if report.nominated_node != known.status.nominated_node_name:
            self.see(changed(known, status={"nominated_node_name": report.nominated_node}))
