"""Lets an engine decide about a cluster that is only thought of, as if every decision were carried out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from posse.engine.decisions import Bind, BindVolumes, Decision, Evict, Solve
from posse.engine.engine import Engine
from posse.engine.events import Observed, Solved, Vanished
from posse.engine.keys import GroupKey, PodRef
from posse.engine.queue.timers import GATHERING_SECONDS
from posse.model.pod import Pod
from posse.solver.solving import solve


@dataclass(slots=True)
class TrialDecisions:
    nodes: dict[str, str] = field(default_factory=dict)
    """By uid of the pod."""
    evictions: list[Evict] = field(default_factory=list)

    def add(self, decisions: Iterable[Decision]) -> None:
        for decision in decisions:
            match decision:
                case Bind(placements):
                    self.nodes |= {one.pod.uid: one.node for one in placements}
                case BindVolumes(pod, node, _):
                    self.nodes[pod.uid] = node
                case Evict():
                    self.evictions.append(decision)
                case _:
                    pass


def settle(engine: Engine, pods: Mapping[str, Pod], now: float) -> TrialDecisions:
    """Decide until nothing is left to try, and let bindings come true; `pods` by uid.

    Basic groups that wait for pods to come have waited by then.
    """
    decided = _bound(engine, pods, now)
    wakeup = engine.next_wakeup()
    if wakeup is not None and wakeup <= now + GATHERING_SECONDS:
        later = _bound(engine, pods, now + GATHERING_SECONDS)
        decided.nodes |= later.nodes
        decided.evictions += later.evictions
    return decided


def _bound(engine: Engine, pods: Mapping[str, Pod], now: float) -> TrialDecisions:
    decided = TrialDecisions()
    while True:
        news = TrialDecisions()
        news.add(_all_decisions(engine, now))
        for uid, node in news.nodes.items():
            engine.absorb(Observed(_on_node(pods[uid], node)))
        decided.nodes |= news.nodes
        decided.evictions += news.evictions
        if not news.nodes:
            return decided


def _on_node(pod: Pod, node: str) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))


def submit(
    engine: Engine, objects: Iterable[Observed], pods: Mapping[str, Pod], now: float
) -> TrialDecisions:
    """Let the engine see new objects, and let all victims leave. `pods` are old and new ones, by uid."""
    for observed in objects:
        engine.absorb(observed)
    decided = settle(engine, pods, now)
    waiting = list(decided.evictions)
    while waiting:
        for eviction in waiting:
            if eviction.pod.uid in pods:
                engine.absorb(Vanished(pods[eviction.pod.uid]))
        later = settle(engine, pods, now)
        decided.nodes |= later.nodes
        known = {eviction.pod.uid for eviction in decided.evictions}
        waiting = [eviction for eviction in later.evictions if eviction.pod.uid not in known]
        decided.evictions += waiting
    return decided


def preemptor_of(eviction: Evict) -> GroupKey | PodRef:
    preemptor = eviction.preemptor
    return preemptor if isinstance(preemptor, PodRef) else preemptor.key


def _all_decisions(engine: Engine, now: float) -> list[Decision]:
    decisions = engine.decide(now)
    unanswered = list(decisions)
    while engine.has_work or any(isinstance(one, Solve) for one in unanswered):
        for one in unanswered:
            if isinstance(one, Solve):
                engine.absorb(Solved(one.group, one.number, solve(one.problem, one.effort)))
        unanswered = engine.decide(now)
        decisions += unanswered
    return decisions
