"""Trees of groups under faults: a fixed range of seeds; `python -m tests.simulation --trees` runs many more."""

import dataclasses
from collections import Counter

import pytest

from posse.engine.decisions import Bind, ReportGroup
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.model.workload import CompositePodGroup
from tests.simulation.run import Run, SimulationFailed
from tests.support.effort import some_of, up_to

SEEDS_EACH = max(25, up_to(100))  # Fewer start too few trees to say anything.


@pytest.mark.parametrize("first", some_of(range(0, 300, 100), 2))
def test_whatever_goes_wrong_the_laws_hold_for_trees(first):
    counts = Counter()
    for seed in range(first, first + SEEDS_EACH):
        counts += Run(seed, has_trees=True).execute()
    # A simulation in which nothing happens would hold every law.
    assert counts["trees started"] > SEEDS_EACH / 2
    assert counts["truths"] > SEEDS_EACH
    assert counts["crashes"] > SEEDS_EACH / 2
    assert counts["Evict"] > SEEDS_EACH / 2
    assert counts["evicted for groups"] > SEEDS_EACH / 4


class BindsHalfOfATree(Engine):
    """Leaves out all groups of a tree but the first."""

    def decide(self, now):
        return [self._halved(decision) for decision in super().decide(now)]

    def _halved(self, decision):
        if not isinstance(decision, Bind) or decision.group is None or not decision.group.is_composite:
            return decision
        first = self._knowledge.pods[decision.placements[0].pod.uid].group
        kept = [one for one in decision.placements if self._knowledge.pods[one.pod.uid].group == first]
        return dataclasses.replace(decision, placements=tuple(kept))


class ForgetsGroupsOfGroups(Engine):
    """Never looks at a tree again once its root has changed."""

    def absorb(self, event):
        super().absorb(event)
        if isinstance(getattr(event, "obj", None), CompositePodGroup):
            self._knowledge.unsettled_groups.clear()


class TellsTheWrongTree(Engine):
    """Says of every group of groups that it has started."""

    def decide(self, now):
        return [
            dataclasses.replace(one, scheduled=True)
            if isinstance(one, ReportGroup) and one.group.is_composite
            else one
            for one in super().decide(now)
        ]


@pytest.mark.parametrize("broken", [BindsHalfOfATree, ForgetsGroupsOfGroups, TellsTheWrongTree])
def test_a_scheduler_that_is_broken_for_trees_is_found(broken):
    def run_all():
        for seed in range(100):
            Run(seed, make_engine=lambda: broken(EngineOptions()), has_trees=True).execute()

    with pytest.raises(SimulationFailed):
        run_all()
