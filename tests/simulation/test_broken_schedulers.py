"""The simulation is only as good as what it catches: schedulers broken on purpose, each of which a law must find."""

import msgspec
import pytest

from posse.engine.decisions import Bind, Evict
from posse.engine.engine import Engine
from posse.engine.events import BindRefused, Observed, Vanished
from posse.engine.options import EngineOptions
from posse.engine.statement import NEVER_REPORTED
from posse.model.node import Node
from posse.model.workload import PodGroup
from tests.simulation.run import Run, SimulationFailed, usual_engine
from tests.simulation.world import World
from tests.support.builders import changed

_SEEDS = range(300)


class BindsHalfOfAGang(Engine):
    def decide(self, now):
        return [self._halved(decision) for decision in super().decide(now)]

    def _halved(self, decision):
        if isinstance(decision, Bind) and len(decision.placements) > 2:
            return msgspec.structs.replace(decision, placements=decision.placements[:1])
        return decision


class ForgetsPods(Engine):
    def absorb(self, event):
        if not (isinstance(event, Observed) and event.obj.metadata.name.endswith("7")):
            super().absorb(event)


class IgnoresRefusals(Engine):
    def absorb(self, event):
        if not isinstance(event, BindRefused):
            super().absorb(event)


class DropsWhatWasRefused(Engine):
    """Stops caring for a pod of which a binding was refused."""

    def absorb(self, event):
        if isinstance(event, BindRefused) and (record := self._knowledge.pods.get(event.pod_uid)):
            super().absorb(Vanished(record.pod))
        else:
            super().absorb(event)


class OverfillsNodes(Engine):
    """Takes every node for larger than it is."""

    def absorb(self, event):
        super().absorb(resized(event, 3))


class LeavesNodesEmpty(Engine):
    """Takes every node for smaller than it is."""

    def absorb(self, event):
        super().absorb(resized(event, -3))


def resized(event, more):
    if not (isinstance(event, Observed) and isinstance(event.obj, Node)):
        return event
    offered = event.obj.status.allocatable
    cpu = max(0, int(offered["cpu"]) + more)
    return Observed(changed(event.obj, status={"allocatable": {**offered, "cpu": str(cpu)}}))


class IgnoresTopology(Engine):
    """Lets groups go anywhere, whatever they ask for."""

    def absorb(self, event):
        is_group = isinstance(event, Observed) and isinstance(event.obj, PodGroup)
        unbound = changed(event.obj, spec={"scheduling_constraints": None}) if is_group else None
        super().absorb(Observed(unbound) if unbound is not None else event)


class BindsTwice(Engine):
    def decide(self, now):
        decisions = super().decide(now)
        return decisions + [decision for decision in decisions if isinstance(decision, Bind)]


class LosesItsTurn(Engine):
    """Never tries a pod again that once did not fit."""

    def decide(self, now):
        decisions = super().decide(now)
        for key in list(self._knowledge.backlog._unschedulable):
            self._knowledge.backlog.take(self._knowledge.backlog._unschedulable.pop(key))
        return decisions


class NeverComesToRest(Engine):
    """Says everything again and again."""

    def decide(self, now):
        for record in self._knowledge.pods.values():
            record.reported = NEVER_REPORTED
        return super().decide(now)


class EvictsTooMany(Engine):
    """Evicts all pods from the node, whatever their priority."""

    def decide(self, now):
        decisions = super().decide(now)
        evictions = [decision for decision in decisions if isinstance(decision, Evict)]
        for eviction in evictions[:1]:
            there = [record.ref for record in self._knowledge.state.pods_on(eviction.node)]
            more = [Evict(ref, eviction.preemptor, eviction.node) for ref in there if ref != eviction.pod]
            decisions[decisions.index(eviction) + 1 : 0] = more
        return decisions


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (BindsHalfOfAGang, "no gang bound below its minimum"),
        (ForgetsPods, "nothing is lost"),
        (IgnoresRefusals, "everybody is where told"),
        (DropsWhatWasRefused, "nothing is lost"),
        (OverfillsNodes, "no node is promised beyond its room"),
        (LeavesNodesEmpty, "that fits has started"),
        (IgnoresTopology, "no gang across domains"),
        (BindsTwice, "every binding is final"),
        (LosesItsTurn, "who may be tried waits for its turn"),
        (NeverComesToRest, "decisions stop when nothing happens"),
        (EvictsTooMany, "nobody is evicted"),
    ],
)
def test_a_broken_scheduler_is_found_out(broken, law):
    """A scheduler that breaks one law soon breaks others; in some run this one comes first."""
    assert any(law in found for found in findings(lambda: broken(EngineOptions())))


def findings(make_engine):
    for seed in _SEEDS:
        try:
            Run(seed, make_engine).execute()
        except SimulationFailed as failure:
            yield str(failure).partition("\n")[0]


def run_all(make_engine=usual_engine):
    for seed in _SEEDS:
        Run(seed, make_engine).execute()


def test_a_server_that_binds_half_of_a_group_is_found_out(monkeypatch):
    def bind_half(world, ref, node, *, bind=World.bind):
        if ref.name[-1] in "02468":
            bind(world, ref, node)

    monkeypatch.setattr(World, "bind", bind_half)
    with pytest.raises(SimulationFailed, match="what is bound together is bound whole"):
        run_all()


def test_a_failure_names_its_seed_and_tells_how_to_replay_it():
    with pytest.raises(SimulationFailed, match=r"seed \d+: InvariantBroken: (?s:.*)--seed \d+ --trace"):
        run_all(lambda: BindsTwice(EngineOptions()))
