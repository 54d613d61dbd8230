"""Wakes the queue entries that a change of the cluster may help, and no others.

An entry may fit now, or may preempt now: the latter takes a new node, or the exit of a pod that could not be
evicted. A gang that lacks capacity for many pods is not tried because one of them would fit; `renewal`
refreshes its status.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.tree.bounds import may_fit
from posse.engine.preemption.pod_search import could_preempt
from posse.engine.queue.backlog import Key
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.node_scores import REFUSED
from posse.engine.trials.group_trial import GroupTrials

SET_ASIDE_SECONDS = 900.0
"""How long capacity is set aside for pods of a started group that do not exist yet."""
_SETTLING_SECONDS = 1.0
"""How long a group with terminating victims waits before it looks for a place without further victims."""


@dataclass(frozen=True, slots=True)
class _Change:
    improved: Sequence[int]
    """Rows where a pod may fit now that did not before."""
    has_new_nodes: bool
    is_freed: bool
    """A pod has left that could not have been evicted."""


class Waking:
    def __init__(self, knowledge: Knowledge, trials: GroupTrials) -> None:
        self._knowledge = knowledge
        self._trials = trials
        self._seen_version = 0
        """State version when unschedulable entries were last checked."""

    def wake_improved(self, now: float) -> None:
        """Wake entries that could use the changes since the last call.

        Pods whose claim has changed get a fresh status, even if that does not help.
        """
        state = self._knowledge.state
        improved, has_new_nodes = state.take_improved_rows(), state.take_has_renewed_nodes()
        frees_up_to = self._frees_up_to(state.take_highest_gone())
        book = state.storage.book
        claims = book.take_changed_claims() if book.changed_claims else ()
        for group in self._knowledge.misplaced_groups if has_new_nodes else ():
            self._knowledge.backlog.resume(group, now)
        scheduling_classes = (
            self._knowledge.backlog.unschedulable_classes() if self._seen_version != state.version else []
        )
        rows = np.array(improved if scheduling_classes else [], dtype=np.int64)
        for scheduling_class in scheduling_classes:
            is_helped = self._fits(scheduling_class, rows) or scheduling_class.pod_class.uses_any(claims)
            may_be_freed = has_new_nodes or frees_up_to is not None
            for priority, keys in (
                self._unschedulable(scheduling_class).items() if is_helped or may_be_freed else ()
            ):
                is_freed = frees_up_to is not None and frees_up_to >= priority
                evicts = has_new_nodes or is_freed
                if is_helped or (evicts and could_preempt(state, scheduling_class, priority, rows)):
                    for key in keys:
                        self._wake(key, now, _Change(improved, has_new_nodes, is_freed))
        self._seen_version = state.version

    def _frees_up_to(self, highest_gone: int | None) -> int | None:
        """Highest priority whose preemption options improved, or None.

        The exit of a pod that was evictable all along makes no difference, and some evictable pod must be
        left.
        """
        if highest_gone is None:
            return None
        lowest = min(self._knowledge.state.usage.priorities(), default=0)
        return highest_gone if lowest < highest_gone else None

    def _unschedulable(self, scheduling_class: SchedulingClass) -> dict[int, list[Key]]:
        """Unschedulable entries of the class, by priority."""
        backlog = self._knowledge.backlog
        parked: dict[int, list[Key]] = {}
        for key in backlog.unschedulable_for(scheduling_class):
            waiting = backlog.get(key)
            if waiting is not None:
                parked.setdefault(waiting.priority, []).append(key)
        return parked

    def _fits(self, scheduling_class: SchedulingClass, rows: IntArray) -> bool:
        """A pod anywhere may help classes that depend on other nodes; only better nodes help the rest."""
        scores = self._knowledge.state.scores(scheduling_class)
        totals = scores.totals()[rows] if scores.is_row_local else scores.totals()
        return bool((totals != REFUSED).any())

    def _wake(self, key: Key, now: float, change: _Change) -> None:
        """One fitting member is not enough to try a gang that lacks capacity for many."""
        backlog, is_waiting = self._knowledge.backlog, self._knowledge.ledger.is_waiting(key)
        group = root_of(self._knowledge.groups, key) if isinstance(key, GroupKey) else None
        if group is None:
            backlog.resume(key, now)
        elif not (change.has_new_nodes or self._may_start(group, change)):
            return
        elif is_waiting and self._is_made_for(group, change.improved):
            # The last of its victims may be about to leave; then all of its reserved capacity is free.
            backlog.resume_at(key, now + _SETTLING_SECONDS)
        else:
            backlog.resume(key, now)

    def _may_start(self, group: Root, change: _Change) -> bool:
        state = self._knowledge.state
        if may_fit(state, group):
            return True
        if not (change.is_freed and self._trials.preempts_for(group)):
            return False
        if any(record.pod_class.devices is not None for record in group.unattached()):
            # Devices that an eviction would free are not counted.
            return True
        with state.lightened_below(group.waiting_priorities[0]):
            return may_fit(state, group)

    def _is_made_for(self, group: Root, improved: Sequence[int]) -> bool:
        """Whether only nodes with capacity reserved for it improved.

        Capacity elsewhere might be taken by others.
        """
        nominated = dict.fromkeys(record.nominated for record in group.members.values())
        return all(self._knowledge.state.nodes.names[row] in nominated for row in improved)


class SetAsideLimit:
    """Ends what is set aside for pods of started groups: otherwise pods that never come block others."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self.until: dict[GroupKey, float] = {}
        """Groups that capacity is set aside for, and until when."""

    def review(self, now: float) -> None:
        holders = self._knowledge.state.minimum_reservations.holders()
        if not holders and not self.until:
            return
        self.until = {key: self.until.get(key, now + SET_ASIDE_SECONDS) for key in holders}
        over = [key for key, until in self.until.items() if until <= now]
        for key in over:
            del self.until[key]
            self._end(key)
        if over:
            self._wake_needing()

    def next_wakeup(self) -> float | None:
        return min(self.until.values(), default=None)

    def _end(self, key: GroupKey) -> None:
        group = self._knowledge.groups.get(key)
        if group is not None:
            group.is_set_aside_over = True
            self._knowledge.state.minimum_reservations.note(key)

    def _wake_needing(self) -> None:
        """Only groups that state minResources were held back."""
        for group in self._knowledge.groups:
            if group.minimum_resources and not group.started_count:
                self._knowledge.backlog.wake(self._knowledge.entry_of(group.key))
