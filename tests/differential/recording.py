"""Event logs that can be kept in a file and run again: `python -m tests.differential.recording < log` prints decisions.

A log is one JSON object per line: {"observed": "Pod", "object": ...}, {"vanished": ...}, {"refused": uid, "node": name}
or {"decide": now}. Decisions are printed one per line, in full.
"""

import json
import random
import sys

import msgspec

from posse.engine.decisions import Bind
from posse.engine.engine import Engine, EngineOptions
from posse.engine.events import BindRefused, Observed, Vanished
from posse.model.decoding import decode
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.workload import PodGroup
from tests.builders import changed, gang, node, pod, required_affinity, requirement, taint, toleration

KINDS = {"Pod": Pod, "Node": Node, "PodGroup": PodGroup}
ZONES = ["east", "west", "north"]


def write_event(event):
    if isinstance(event, BindRefused):
        return {"refused": event.pod_uid, "node": event.node}
    verb = "observed" if isinstance(event, Observed) else "vanished"
    return {verb: type(event.obj).__name__, "object": msgspec.to_builtins(event.obj)}


def read_event(line):
    if "refused" in line:
        return BindRefused(line["refused"], line["node"], "refused")
    if "observed" in line:
        return Observed(decode(KINDS[line["observed"]], line["object"]))
    return Vanished(decode(KINDS[line["vanished"]], line["object"]))


def replay(lines):
    """Yield the decisions of a fresh engine that lives through the log."""
    engine = Engine(EngineOptions())
    for line in lines:
        if "decide" in line:
            yield from engine.decide(line["decide"])
        else:
            engine.absorb(read_event(line))


class Recorder:
    """Makes up the life of a cluster from a seed, and writes down what an engine was told of it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.engine = Engine(EngineOptions())
        self.lines = []
        self.now = 0.0
        self.pods = {}
        self.nodes = {}
        self.created = 0

    def tell(self, event):
        self.lines.append(write_event(event))
        self.engine.absorb(event)

    def record(self, rounds):
        for ordinal in range(30):
            self.add_node(ordinal)
        for _ in range(rounds):
            for _ in range(self.random.randint(1, 6)):
                self.random.choice([self.add_pod, self.add_gang, self.change_node, self.end_pod])()
            self.decide()
        return self.lines

    def add_node(self, ordinal):
        labels = {"zone": self.random.choice(ZONES), "rank": str(ordinal), "disk": "ssd"}
        made = node(
            f"n{ordinal}",
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

    def add_pod(self, group=""):
        self.created += 1
        wish = self.random.choice(
            [
                {},
                {"node_selector": {"zone": self.random.choice(ZONES)}},
                {
                    "affinity": required_affinity(
                        [requirement("zone", "NotIn", *self.random.sample(ZONES, 2))]
                    )
                },
                {"tolerations": (toleration("gpu"),), "requests": {"example.com/gpu": "1"}},
            ]
        )
        cpu = self.random.choice(["250m", "500m", "1"])
        made = pod(f"p{self.created}", cpu, "256Mi", group=group, **(wish if not group else {}))
        self.pods[made.metadata.uid] = made
        self.tell(Observed(made))

    def add_gang(self):
        self.created += 1
        name, size = f"g{self.created}", self.random.randint(2, 12)
        self.tell(Observed(gang(name, size)))
        for _ in range(size):
            self.add_pod(group=name)

    def end_pod(self):
        bound = [uid for uid, made in self.pods.items() if made.spec.node_name]
        if bound:
            self.tell(Vanished(self.pods.pop(self.random.choice(bound))))

    def decide(self):
        self.now += self.random.choice([0.1, 1.0, 30.0])
        self.lines.append({"decide": self.now})
        for decision in self.engine.decide(self.now):
            for placement in decision.placements if isinstance(decision, Bind) else ():
                self.answer(placement)

    def answer(self, placement):
        if self.random.random() < 0.1:
            self.tell(BindRefused(placement.pod.uid, placement.node, "refused"))
        else:
            made = changed(self.pods[placement.pod.uid], spec={"node_name": placement.node})
            self.pods[placement.pod.uid] = made
            self.tell(Observed(made))


if __name__ == "__main__":
    for decision in replay(json.loads(line) for line in sys.stdin):
        sys.stdout.write(f"{decision!r}\n")
