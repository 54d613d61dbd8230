"""A cluster of one engine for the case book: manifests in, decisions come true, time moves when told to."""

import re
from pathlib import Path

import msgspec

from posse.cli.manifests import read_manifests
from posse.cli.plan.expansion import expanded
from posse.engine.decisions import AllocateClaims, Bind, Evict, Solve
from posse.engine.engine import Engine
from posse.engine.events import ClaimWritten, Observed, Solved, Vanished
from posse.engine.options import EngineOptions
from posse.kinds.registry import JOB, LEADER_WORKER_SET, NAMESPACE, NODE, POD, POD_GROUP, PRIORITY_CLASS
from posse.model.decoding import decode
from posse.model.feature_gates import ALL_GATES
from posse.model.pod import Pod
from posse.model.priority_class import PriorityClass
from posse.model.timestamps import format_timestamp
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from posse.solver.solving import solve
from tests.support.builders import changed, pod

CASES = Path(__file__).parents[2] / "docs" / "cases"
STRUCTS = dict(FOLLOWED_KINDS)
WORKLOADS = (JOB, LEADER_WORKER_SET, POD_GROUP)
UID = re.compile(r'(?<="uid":")([^"]+)')


class CaseWorld:
    """Source of what exists already, for manifests that refer to it."""

    default_namespace = "default"

    def __init__(self, *files):
        self.engine = Engine(EngineOptions(asks=True))
        self._now = 1_800_000_000.0
        self._steps = 0
        self._classes = []
        self.nodes = {}
        self.pods: dict[str, Pod] = {}
        """By name; pods that ended are gone."""
        self.evicted: list[str] = []
        """Names of victims; they run until they are told to end."""
        for file in files:
            self.apply(file)

    def now(self):
        return self._now

    def objects(self, kind, _namespace, _tell):
        return {PRIORITY_CLASS: self._classes, NAMESPACE: [{"metadata": {"name": "default"}}]}.get(kind, [])

    def apply(self, file):
        """Objects of docs/cases/FILE.yaml as an API server and its controllers make them, one workload after
        another; after each, decide.
        """
        manifests = read_manifests(str(CASES / f"{file}.yaml"))
        for manifest in manifests:
            if manifest.kind is PRIORITY_CLASS:
                self._classes.append(manifest.obj)
                self.engine.absorb(Observed(decode(PriorityClass, manifest.obj)))
        batch = []
        for manifest in [one for one in manifests if one.kind is not PRIORITY_CLASS]:
            if manifest.kind in WORKLOADS:
                self._create(batch)
                batch = []
            batch.append(manifest)
        self._create(batch)

    def _create(self, manifests):
        self._steps += 1
        for kind, obj in expanded(manifests, self, "default", ALL_GATES):
            # Every expansion starts with the same seed; what was created later is something else.
            text = UID.sub(lambda found: f"{found[1]}-{self._steps}", msgspec.json.encode(obj).decode())
            self._see(kind, msgspec.json.decode(text))
        self.settle(after=1.0)

    def submit_pod(self, name):
        """A pod of one CPU that belongs to no group."""
        made = changed(
            pod(name, cpu="1", created=format_timestamp(self._now)), metadata={"namespace": "default"}
        )
        self.pods[name] = made
        self.engine.absorb(Observed(made))

    def _see(self, kind, obj):
        struct = decode(STRUCTS[kind], obj)
        self.engine.absorb(Observed(struct))
        if kind is POD:
            self.pods[struct.metadata.name] = struct
        elif kind is NODE:
            self.nodes[struct.metadata.name] = struct

    def settle(self, after=0.0):
        """Decide until nothing is left to do; bindings come true, victims begin to terminate."""
        self._now += after
        while True:
            decisions = self.engine.decide(self._now)
            for one in decisions:
                self._carry_out(one)
            if not self.engine.has_work and not any(isinstance(one, Bind | Solve) for one in decisions):
                return

    def _carry_out(self, decision):
        match decision:
            case Solve(group=group, number=number, problem=problem, effort=effort):
                self.engine.absorb(Solved(group, number, solve(problem, effort)))
            case Evict(pod=victim):
                self.evicted.append(victim.name)
            case Bind() | AllocateClaims():
                for one in decision.claims:
                    self.engine.absorb(ClaimWritten(one.claim, None))
                for placed in getattr(decision, "placements", ()):
                    self._change(placed.pod.name, spec={"node_name": placed.node})

    def _change(self, name, **parts):
        self.pods[name] = changed(self.pods[name], **parts)
        self.engine.absorb(Observed(self.pods[name]))

    def end(self, *names):
        """These pods leave the cluster; then decide."""
        for name in names:
            self.engine.absorb(Vanished(self.pods.pop(name)))
        self.settle(after=1.0)

    def lose_node(self, name):
        """The node goes, and its pods with it."""
        self.engine.absorb(Vanished(self.nodes[name]))
        self.end(*[own for own, one in self.pods.items() if one.spec.node_name == name])

    def return_node(self, name):
        self.engine.absorb(Observed(self.nodes[name]))
        self.settle(after=1.0)

    def placed(self, prefix):
        """Nodes of running pods of a workload, by name of the pod."""
        return {
            name: one.spec.node_name
            for name, one in self.pods.items()
            if name.startswith(f"{prefix}-") and one.spec.node_name
        }

    def members(self, prefix):
        return [name for name in self.pods if name.startswith(f"{prefix}-")]
