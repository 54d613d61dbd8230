"""Victims for a group pod by pod: the fallback without WorkloadAwarePreemption.

Each member without a node chooses its own victims, with the earlier members placed and their victims gone. If
delayed, nothing is evicted unless enough members fit that way; otherwise all chosen victims are evicted
regardless.
"""

from dataclasses import dataclass

import numpy as np

from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.part import Part
from posse.engine.placement.gang.member_pass import objection
from posse.engine.placement.search.fill import fill
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.candidates import Preemptor, Search
from posse.engine.preemption.group_search import EvictionPlan
from posse.engine.preemption.pod_search import preempt
from posse.engine.preemption.units import Unit, by_importance
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft


@dataclass(frozen=True, slots=True)
class MemberSearch:
    state: ClusterState
    groups: GroupBook
    budgets: BudgetBook

    def find(self, group: Part, *, is_delayed: bool) -> EvictionPlan | None:
        """An eviction plan; without places if pods are evicted though the group still does not fit.

        Pods that choose victims separately cannot respect one domain or the minimum of a tree: such groups
        get no plan.
        """
        if group.children or group.topology_key:
            return None
        attached = group.started_count
        draft = Draft(self.state)
        draft.remove([record for record in self.state.attached_records() if record.is_ending])
        victims: list[Unit] = []
        refused: dict[SchedulingClass, None] = {}
        for record in group.unattached():
            scheduling_class = self.state.scheduling_class(record)
            if scheduling_class in refused or fill(self.state, draft, scheduling_class, [record]):
                continue
            chosen = self._make_room(draft, Preemptor(record, scheduling_class, group.priority))
            victims += chosen
            if not chosen:
                # Identical pods would fail too.
                refused[scheduling_class] = None
        places = tuple((record, record.node) for record in draft.placed())
        starts = bool(places) and attached + len(places) >= group.minimum
        starts = starts and not objection(self.state, group)
        draft.roll_back()
        if not starts and (is_delayed or not victims):
            return None
        return EvictionPlan(tuple(sorted(victims, key=by_importance)), places if starts else ())

    def _make_room(self, draft: Draft, preemptor: Preemptor) -> tuple[Unit, ...]:
        """Victims whose eviction lets the pod fit; the pod is then placed. Empty if nothing helps."""
        chosen = preempt(Search(self.state, self.groups, self.budgets, preemptor)).chosen
        if chosen is None:
            return ()
        draft.remove([record for unit in chosen.victims for record in unit.records])
        draft.place([preemptor.record], np.array([self.state.nodes.row_of[chosen.node]]))
        return chosen.victims
