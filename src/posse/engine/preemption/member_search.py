"""Room for a group made pod by pod: what is left if groups are not to be looked at as a whole (WorkloadAwarePreemption off).

Each member that finds no node chooses victims for itself, the earlier ones being placed and their victims gone. Delayed,
nobody is evicted unless enough members find a place that way; otherwise whoever was chosen goes, come of it what may.
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
        """Without places if pods are evicted though the group does not fit even so.

        Pods that choose for themselves do not meet in one domain, nor in what a tree asks for: such groups get no
        capacity this way.
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
                # Its equals would fare no better.
                refused[scheduling_class] = None
        places = tuple((record, record.node) for record in draft.placed())
        starts = bool(places) and attached + len(places) >= group.minimum
        starts = starts and not objection(self.state, group)
        draft.roll_back()
        if not starts and (is_delayed or not victims):
            return None
        return EvictionPlan(tuple(sorted(victims, key=by_importance)), places if starts else ())

    def _make_room(self, draft: Draft, preemptor: Preemptor) -> tuple[Unit, ...]:
        """Who leaves so that the pod can be placed, which it then is; nobody if nothing helps."""
        chosen = preempt(Search(self.state, self.groups, self.budgets, preemptor)).chosen
        if chosen is None:
            return ()
        draft.remove([record for unit in chosen.victims for record in unit.records])
        draft.place([preemptor.record], np.array([self.state.nodes.row_of[chosen.node]]))
        return chosen.victims
