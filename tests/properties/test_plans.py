"""`posse plan` against what then happens: the engine that ran the cluster so far gets the same submission."""

from copy import deepcopy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.cli.manifests import parse_manifests
from posse.cli.plan.expansion import expanded
from posse.cli.plan.run import PlanQuestion, report_of
from posse.cli.plan.trial import TrialDecisions, submit
from posse.engine.decisions import ReportGroup
from posse.engine.engine import Engine
from posse.engine.events import Observed, Vanished
from posse.engine.options import EngineOptions
from posse.kinds.registry import NAMESPACE, PRIORITY_CLASS
from posse.model.decoding import decode
from posse.model.feature_gates import ALL_GATES
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.workload import PodGroup
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from tests.support.effort import up_to
from tests.support.listed_objects import NOW, ListedObjects, gang, node, pod

OPTIONS = EngineOptions(asks=True)
RACK = "topology.posse.dev/rack"
STRUCTS = dict(FOLLOWED_KINDS)

gangs = st.fixed_dictionaries(
    {
        "size": st.integers(1, 4),
        "extra": st.integers(0, 2),
        "gpus": st.sampled_from([1, 2, 4, 8]),
        "priority": st.sampled_from([0, 0, 10]),
        "in_rack": st.booleans(),
        "whole": st.booleans(),
    }
)


class Cluster:
    """Objects as JSON, and the engine that has scheduled them from the beginning."""

    def __init__(self, capacities):
        self.nodes = [node(f"n{index}", f"r{index % 2}", gpus) for index, gpus in enumerate(capacities)]
        self.groups, self.pods = {}, {}
        self.engine = Engine(OPTIONS)
        for one in self.nodes:
            self.engine.absorb(Observed(decode(Node, one)))

    def source(self):
        source = ListedObjects(
            nodes=self.nodes, groups=list(self.groups.values()), pods=list(self.pods.values())
        )
        classes = [{"metadata": {"name": f"class-{n}", "uid": f"class-{n}"}, "value": n} for n in (0, 10)]
        source._objects |= {
            "Namespace": (NAMESPACE, [{"metadata": {"name": "team", "uid": "ns"}}]),
            "PriorityClass": (PRIORITY_CLASS, classes),
        }
        return source

    def run(self, number, wanted):
        """A gang arrives, and everything that is decided then comes true."""
        name = f"g{number}"
        self.groups[name] = gang(name, wanted["size"], priority=wanted["priority"], **constraints(wanted))
        new = [pod(f"{name}-{index}", group=name, gpus=wanted["gpus"]) for index in range(members(wanted))]
        for one in new:
            one["spec"]["priority"] = wanted["priority"]
            self.pods[one["metadata"]["uid"]] = one
        self.engine.absorb(Observed(decode(PodGroup, self.groups[name])))
        self.settle([Observed(decode(Pod, one)) for one in new])

    def settle(self, observed):
        for event in observed:
            self.engine.absorb(event)
        while True:
            decisions = list(self.engine.decide(NOW))
            while self.engine.has_work:
                decisions += self.engine.decide(NOW)
            if not self.come_true(decisions):
                return

    def come_true(self, decisions):
        decided = TrialDecisions()
        decided.add(decisions)
        for uid, where in decided.nodes.items():
            found = self.pods[uid]
            found["spec"]["nodeName"], found["status"] = (
                where,
                {"phase": "Running", "startTime": "2026-01-01T00:00:30Z"},
            )
            self.engine.absorb(Observed(decode(Pod, deepcopy(found))))
        for eviction in decided.evictions:
            self.engine.absorb(Vanished(decode(Pod, self.pods.pop(eviction.pod.uid))))
        for report in decisions:
            if isinstance(report, ReportGroup) and report.scheduled:
                condition = {
                    "type": "PodGroupInitiallyScheduled",
                    "status": "True",
                    "reason": report.reason,
                    "lastTransitionTime": "2026-01-01T00:00:30Z",
                }
                self.groups[report.group.name]["status"] = {"conditions": [condition]}
                self.engine.absorb(Observed(decode(PodGroup, deepcopy(self.groups[report.group.name]))))
        return bool(decided.nodes or decided.evictions)


def members(wanted):
    return wanted["size"] + wanted["extra"]


def constraints(wanted):
    found = {"schedulingConstraints": {"topology": [{"key": RACK}]}} if wanted["in_rack"] else {}
    return found | ({"disruptionMode": {"all": {}}} if wanted["whole"] else {})


def submission(wanted):
    """Manifests of one more gang."""
    priority = f"class-{wanted['priority']}"
    policy = {"gang": {"minCount": wanted["size"]}}
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": str(wanted["gpus"])}}}
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "new"},
        "spec": {"schedulingPolicy": policy, "priorityClassName": priority, **constraints(wanted)},
    }
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"new-{index}"},
            "spec": {
                "containers": [container],
                "priorityClassName": priority,
                "schedulingGroup": {"podGroupName": "new"},
            },
        }
        for index in range(members(wanted))
    ]
    return yaml.safe_dump_all([group, *pods])


@pytest.mark.timeout(900)
@settings(max_examples=up_to(300), deadline=None)
@given(
    st.lists(st.sampled_from([0, 4, 8]), min_size=1, max_size=6),
    st.lists(gangs, min_size=0, max_size=5),
    gangs,
)
def test_a_gang_starts_exactly_as_planned_or_waits_for_the_reason_given(capacities, before, wanted):
    cluster = Cluster(capacities)
    for number, one in enumerate(before):
        cluster.run(number, one)
    manifests = list(parse_manifests(submission(wanted), "new.yaml"))
    (planned,) = report_of(cluster.source(), PlanQuestion(manifests, "team"), OPTIONS).submitted

    new = expanded(list(parse_manifests(submission(wanted), "new.yaml")), cluster.source(), "team", ALL_GATES)
    observed = [Observed(decode(STRUCTS[kind], obj)) for kind, obj in new]
    own = {one.obj.metadata.uid for one in observed if isinstance(one.obj, Pod)}
    existing = {uid: decode(Pod, one) for uid, one in cluster.pods.items()}
    existing |= {one.obj.metadata.uid: one.obj for one in observed if isinstance(one.obj, Pod)}
    # Nodes of equal rank take turns. Whose turn it is, only the running scheduler knows.
    cluster.engine._knowledge.state.turn = 0
    happened = submit(cluster.engine, observed, existing, NOW)
    nodes = {}
    for uid in own & happened.nodes.keys():
        nodes[happened.nodes[uid]] = nodes.get(happened.nodes[uid], 0) + 1
    assert planned.nodes == nodes
    assert sorted(planned.victims) == sorted(f"team/{one.pod.name}" for one in happened.evictions)
    if not nodes:
        now = next(one for one in cluster.engine.situations() if one.key.name == "new")
        assert planned.why.startswith(next(iter(now.sentences)))
