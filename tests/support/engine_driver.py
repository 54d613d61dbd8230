"""Drives an engine in tests: feed it objects, let it decide, and read the decisions as plain values."""

from posse.engine.decisions import AllocateClaims, Bind, Evict, ReportGroup, ReportPod, WarnGroup
from posse.engine.engine import Engine
from posse.engine.events import BindRefused, ClaimWritten, Observed, Vanished
from posse.engine.options import EngineOptions
from posse.engine.rules.registry import DEFAULT_PROFILE
from tests.support.builders import changed


class Driver:
    """One engine and a clock that only moves when told to."""

    def __init__(self, *objects, scheduler_names=("default-scheduler",), options=None):
        self.engine = Engine(options or EngineOptions(dict.fromkeys(scheduler_names, DEFAULT_PROFILE)))
        self.now = 1000.0
        self.see(*objects)

    def see(self, *objects):
        for obj in objects:
            self.engine.absorb(Observed(obj))

    def lose(self, *objects):
        for obj in objects:
            self.engine.absorb(Vanished(obj))

    def refuse(self, pod, node, reason="conflict"):
        self.engine.absorb(BindRefused(pod.metadata.uid, node, reason))

    def decide(self, after=0.0):
        self.now += after
        decisions = self._decide_once()
        while self.engine.has_work:
            decisions += self._decide_once()
        return decisions

    def _decide_once(self):
        """Claims are written at once; the cluster shows them when it is told to."""
        decisions = self.engine.decide(self.now)
        claims = [
            one.claim for bind in decisions if isinstance(bind, Bind | AllocateClaims) for one in bind.claims
        ]
        for claim in dict.fromkeys(claims):
            self.engine.absorb(ClaimWritten(claim, None))
        return decisions

    def bind(self, after=0.0):
        """Decide and return where pods go, by name."""
        return placements(self.decide(after))

    def bind_and_confirm(self, *waiting, after=0.0):
        """Decide, and let the API server bind whatever of these pods was placed."""
        bound = self.bind(after)
        for pod in waiting:
            if pod.metadata.name in bound:
                self.confirm(pod, on=bound[pod.metadata.name])
        return bound

    def confirm(self, *pods, on):
        """The API server has bound these pods."""
        self.see(*(changed(pod, spec={"node_name": on}) for pod in pods))


def binds(decisions):
    return [decision for decision in decisions if isinstance(decision, Bind)]


def placements(decisions):
    return {placed.pod.name: placed.node for bind in binds(decisions) for placed in bind.placements}


def evicted(decisions):
    return sorted(decision.pod.name for decision in decisions if isinstance(decision, Evict))


def nominated(driver):
    """Return which nodes pods hope for, by name."""
    return {r.ref.name: r.nominated for r in driver.engine._knowledge.pods.values() if r.nominated}


def pod_reports(decisions):
    return {d.pod.name: (d.reason, d.message) for d in decisions if isinstance(d, ReportPod)}


def group_reports(decisions):
    return [(d.group.name, d.scheduled, d.reason, d.message) for d in decisions if isinstance(d, ReportGroup)]


def group_warnings(decisions):
    return [(d.group.name, d.reason, d.message) for d in decisions if isinstance(d, WarnGroup)]
