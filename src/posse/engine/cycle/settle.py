"""Settling: for every group that changed since the last cycle, decide whether it may be tried now."""

import math

from msgspec.structs import replace

from posse.engine.cycle.advice import Advisory
from posse.engine.cycle.cycle import Cycle
from posse.engine.decisions import Decision, ReportGroup
from posse.engine.exact.questions import Questions
from posse.engine.groups.admission import (
    BEING_BOUND,
    EXPECTING_PODS,
    NotReady,
    expecting,
    not_ready,
)
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.preemption.run_protection import PROTECTED_PRIORITY
from posse.engine.queue.backlog import Waiting
from posse.engine.queue.timers import HELD_SECONDS, DelayTimers
from posse.engine.reporting.parts import (
    mark_invalid_annotations,
    mark_invalid_priorities,
    mark_nominations_lost,
    mark_other_priorities,
    mark_progress,
    mark_started_again,
)
from posse.engine.reporting.waiting_parts import held_parts, is_told_to_wait, mark_held, mark_not_ready
from posse.engine.state.pod_record import PodRecord


class GroupSettling:
    def __init__(self, knowledge: Knowledge, questions: Questions, advisory: Advisory) -> None:
        self._knowledge = knowledge
        self._questions = questions
        self._advisory = advisory
        self._held: DelayTimers[GroupKey] = DelayTimers(HELD_SECONDS)
        """Groups whose condition has an outdated number of the pods they wait for."""

    def next_wakeup(self) -> float | None:
        return self._held.next_wakeup()

    def settle_changed(self, cycle: Cycle) -> None:
        for key in self._held.take_due(cycle.now) if self._held.running else ():
            group = root_of(self._knowledge.groups, key)
            if group is not None:
                hold = not_ready(self._knowledge.groups, group)
                cycle.decisions.extend(self._named(mark_held(group, held_parts(group, hold))))
        unsettled = take_unsettled_groups(self._knowledge) if self._knowledge.unsettled_groups else {}
        for key, is_redefined in unsettled.items():
            group = root_of(self._knowledge.groups, key)
            if group is None or not self._knowledge.is_ours(group):
                self._forget(key)
                cycle.decisions.extend(self._mark_without_pods(group, cycle.now))
            else:
                self._settle(group, cycle, is_redefined=is_redefined)

    def hold_if_not_ready(self, group: Root, cycle: Cycle) -> NotReady | None:
        """Remove a group that may not be tried from the queue; returns why it may not."""
        hold = not_ready(self._knowledge.groups, group)
        for leaf in group.leaves:
            leaf.awaits_bindings = hold is not None and hold.reason == BEING_BOUND
        if hold is not None:
            self._put_aside(group, hold, cycle.now)
        return hold

    def _settle(self, group: Root, cycle: Cycle, *, is_redefined: bool) -> None:
        cycle.decisions.extend(mark_progress(group))
        cycle.decisions.extend(mark_invalid_priorities(group))
        cycle.decisions.extend(mark_invalid_annotations(group))
        if not self._knowledge.groups.members_must_match:
            cycle.decisions.extend(mark_other_priorities(group))
        waiting = group.unattached()
        if not waiting:
            self._knowledge.backlog.remove(group.key)
            self._knowledge.ledger.release(group.key)
            if is_told_to_wait(group) or (is_redefined and group.key.is_composite):
                hold = not_ready(self._knowledge.groups, group)
                cycle.decisions.extend(self._mark_held(group, hold, cycle.now))
        elif (hold := self.hold_if_not_ready(group, cycle)) is not None:
            cycle.decisions.extend(self._mark_held(group, hold, cycle.now))
            cycle.decisions.extend(mark_nominations_lost(group, hold))
        else:
            self._queue(group, waiting, cycle.now)
            if is_redefined:
                self._knowledge.backlog.wake(group.key)
            if group.key.is_composite and is_told_to_wait(group):
                cycle.decisions.extend(self._mark_held(group, None, cycle.now))

    def _mark_held(self, group: Root, hold: NotReady | None, now: float) -> list[Decision]:
        """Report what parts wait for; where only a number has changed, a moment later."""
        if hold is not None and hold.is_error:
            return mark_not_ready(group, hold)
        told = held_parts(group, hold)
        other = [(record, said) for record, said in told if record.reported.reason != said.reason]
        if len(other) < len(told):
            self._held.start(group.key, now)
        return mark_held(group, other)

    def _forget(self, key: GroupKey) -> None:
        self._knowledge.backlog.forget(key)
        self._questions.forget(key)
        self._advisory.forget(key)
        self._knowledge.ledger.release(key)
        self._knowledge.misplaced_groups.pop(key, None)

    def _mark_without_pods(self, group: Root | None, now: float) -> list[Decision]:
        """Report an invalid tree on its groups even if they have no pods yet.

        Groups that have started are reported again if the report may be lost, though their pods are gone.
        """
        told: list[Decision] = []
        if group is not None and not (group.key.is_composite and group.members):
            told += mark_started_again(group)
            told += mark_progress(group) if is_told_to_wait(group) else ()
            told += mark_other_priorities(group) if not group.members else ()
            if group.key.is_composite or (is_told_to_wait(group) and not group.members):
                told += self._mark_held(group, not_ready(self._knowledge.groups, group), now)
        return self._named(told)

    def _named(self, told: list[Decision]) -> list[Decision]:
        """Groups without pods name no scheduler."""
        name = self._knowledge.own_name
        return [
            replace(one, scheduler_name=name)
            if isinstance(one, ReportGroup) and not one.scheduler_name
            else one
            for one in told
        ]

    def _put_aside(self, group: Root, hold: NotReady, now: float) -> None:
        """A group whose bindings are in flight keeps its entry, and its backoff after a refused one."""
        if hold.reason == BEING_BOUND:
            self._queue(group, group.unattached(), now)
            self._knowledge.backlog.put_aside(group.key, now)
        else:
            self._knowledge.backlog.suspend(group.key)
            self._release_nominations(group, hold)
        if hold.reason == EXPECTING_PODS:
            for leaf in group.leaves:
                if expecting(leaf) is not None:
                    self._knowledge.gatherings.start(leaf.key, now)

    def _release_nominations(self, group: Root, hold: NotReady) -> None:
        """A group that cannot start keeps nothing from others; one that gathers its pods starts soon."""
        if hold.reason != EXPECTING_PODS:
            self._knowledge.ledger.release(group.key)
            for record in group.members.values():
                self._knowledge.nominations.drop(record)

    def _queue(self, group: Root, waiting: list[PodRecord], now: float) -> None:
        backlog = self._knowledge.backlog
        for leaf in group.leaves:
            leaf.gathered = True
            if self._knowledge.gatherings.running:
                self._knowledge.gatherings.stop(leaf.key)
        for record in waiting:
            record.queued_at = record.queued_at or now
        if group.key in backlog:
            backlog.update(group.key, group.priority, len(waiting))
            backlog.resume(group.key, now)
        else:
            oldest = waiting[0]
            entry = Waiting(group.key, group.priority, oldest.created, oldest.arrival, size=len(waiting))
            if self._knowledge.lookahead is not None:
                since = min((record.refused_since for record in group.records[:1]), default=math.inf)
                entry.refused_since = min(now, since) if since < math.inf else since
                self._knowledge.lookahead.rank(entry, now)
            backlog.add(entry)


def take_unsettled_groups(knowledge: Knowledge) -> dict[GroupKey, bool]:
    """Return the queue keys of groups that changed: of those in a tree, the key of its root."""
    rank_members(knowledge)
    taken, knowledge.unsettled_groups = knowledge.unsettled_groups, {}
    entries: dict[GroupKey, bool] = {}
    for key, is_redefined in taken.items():
        entry = knowledge.entry_of(key)
        entries[entry] = entries.get(entry, False) or is_redefined
        if entry != key:
            # A group that joined a tree may have had an entry of its own.
            knowledge.backlog.remove(key)
    return entries


def rank_members(knowledge: Knowledge) -> None:
    """Give members of changed groups their group's priority, and note what is reserved for them."""
    for entry in dict.fromkeys(knowledge.entry_of(key) for key in knowledge.unsettled_groups):
        for group, effective_priority in knowledge.groups.ranked(entry):
            group.note_start()
            if knowledge.state.minimum_reservations.groups:
                knowledge.state.minimum_reservations.note(group.key)
            protection = knowledge.run_protection
            may_be_protected = group.minimum_run_seconds > 0 or group.key in protection.runs
            is_protected = may_be_protected and protection.covers(group)
            for record in group.members.values():
                own = record.priority if effective_priority is None else effective_priority
                record.unprotected_priority = own if is_protected and record.node else None
                if record.unprotected_priority is not None:
                    own = max(own, PROTECTED_PRIORITY)
                before = record.effective_priority
                if before != own:
                    knowledge.state.rank(record, own)
                    knowledge.nominations.note_changed(record)
                if record.node and before > own:
                    knowledge.state.note_improved(record.node, before)
