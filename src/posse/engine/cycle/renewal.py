"""Renewal: a moment after every change of the cluster, check whether what was reported still holds.

Waking tries entries that a change may help. This is about all others: more pods may be in the way than
before, or others, or less capacity may be reserved. A probe tells whether the last refusal is still true; if
not, the entry is tried again, which reports what is true now. To keep that cheap, changes are collected until
nothing happens for a moment, entries are probed only while the queue is idle, and a few of them at a time.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from posse.engine.causes import LacksMembers
from posse.engine.explain.group_status import as_if_its_turn
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import Probe
from posse.engine.placement.tree.attempt import probe_placement
from posse.engine.preemption.run_protection import RunProtection
from posse.engine.queue.backlog import Key, QueueState, Waiting
from posse.engine.queue.capacity_reservation import CapacityReservation
from posse.engine.queue.starvation_guard import ends_by
from posse.engine.reporting.parts import refused_parts
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.pod_record import PodRecord
from posse.engine.statement import Reported, Reservation, Statement
from posse.engine.trials.group_trial import GroupTrials
from posse.engine.trials.pod_trial import PodTrials
from posse.engine.verdict import (
    Code,
    GroupPreemption,
    NoCandidateNode,
    NoVictims,
    PodPreemption,
    Verdict,
    VictimsProtected,
)

QUIET_SECONDS = 2.0
"""Refusals are checked when nothing has changed for so long,"""
_MAX_DELAY_SECONDS = 10.0
"""and after so long in any case."""
_LOOK_SECONDS = 0.5
_MAX_PODS = 256
"""Pods that are probed in one look, those of one group at least."""

Stamp = tuple[int, ...]
_Verdicts = dict[tuple[SchedulingClass, int, tuple[CapacityReservation, ...]], Verdict | None]
"""Verdicts on pods by class, priority and the reservations they meet; None if they fit."""


@dataclass(slots=True)
class _Change:
    first: float
    last: float

    @property
    def due(self) -> float:
        return min(self.last + QUIET_SECONDS, self.first + _MAX_DELAY_SECONDS)


@dataclass(frozen=True, slots=True)
class _Preemption:
    """What a search for victims would be about now."""

    seeks: bool
    """Whether any would be sought."""
    protection: RunProtection

    def is_told_by(self, told: PodPreemption | GroupPreemption | None, *, lacks_members: bool) -> bool:
        if lacks_members:
            return told is None
        if isinstance(told, VictimsProtected):
            return self.protection.still_holds(told)
        if told is None or isinstance(told, NoVictims):
            return told == (NoVictims() if self.seeks else None)
        return self.seeks


class Renewal:
    def __init__(
        self,
        knowledge: Knowledge,
        pods: PodTrials,
        groups: GroupTrials,
        renew_advice: Callable[[GroupKey], None],
    ) -> None:
        self._knowledge = knowledge
        self._pod_trials = pods
        self._trials = groups
        self._renew_advice = renew_advice
        self._stamp: Stamp = ()
        self._change: _Change | None = None
        """Changes since refusals were last checked."""
        self._checked_at = 0.0
        self._unchecked: dict[Key, None] = {}
        self._look_at = 0.0

    def renew(self, now: float) -> None:
        """Note a change; have entries tried again whose last refusal is not true any more."""
        self._note_change(now)
        if self._change is not None and now >= self._change.due:
            self._collect(self._change.last)
            self._change = None
        backlog = self._knowledge.backlog
        if self._unchecked and now >= self._look_at and backlog.peek() is None:
            self._look_at = now + _LOOK_SECONDS
            for key in list(self._look()):
                backlog.resume(key, now)

    def next_wakeup(self) -> float | None:
        times = [self._look_at] if self._unchecked else []
        times += [self._change.due] if self._change is not None else []
        return min(times, default=None)

    def _note_change(self, now: float) -> None:
        stamp = self._knowledge.stamp
        if stamp == self._stamp:
            return
        self._stamp = stamp
        if self._knowledge.backlog.has_unschedulable:
            if self._change is None:
                self._change = _Change(now, now)
            self._change.last = now

    def _collect(self, changed_at: float) -> None:
        """Take the entries that were last tried before the last change: groups first, as they are fewer."""
        waiting = [
            one for one in self._knowledge.backlog.unschedulable() if one.unschedulable_since <= changed_at
        ]
        ordered = sorted(waiting, key=lambda one: not isinstance(one.key, GroupKey))
        self._unchecked = dict.fromkeys(one.key for one in ordered)

    def _look(self) -> Iterator[Key]:
        """Check some entries; returns those with an outdated refusal.

        What was said of protected groups holds while those that were named are protected: none is sought.
        """
        self._knowledge.awaited_protection.allow(0)
        backlog, pods = self._knowledge.backlog, 0
        verdicts: _Verdicts = {}
        while self._unchecked and pods < _MAX_PODS:
            key = next(iter(self._unchecked))
            del self._unchecked[key]
            waiting = backlog.get(key)
            if waiting is None or waiting.place is not QueueState.UNSCHEDULABLE:
                continue
            pods += waiting.size
            if isinstance(key, GroupKey):
                if self._is_outdated(key):
                    yield key
                else:
                    self._renew_advice(key)
            elif self._is_outdated_pod(self._knowledge.pods[key], waiting, verdicts):
                yield key

    # --- groups ------------------------------------------------------------------------------------------

    def _is_outdated(self, key: GroupKey) -> bool:
        root = root_of(self._knowledge.groups, key)
        if root is None or self._knowledge.ledger.is_waiting(key):
            # The number of victims left is counted down; the last of them has it tried again.
            return False
        if any(record.report_may_be_lost for record in root.members.values()):
            return True
        with as_if_its_turn(self._knowledge, root):
            probe = probe_placement(self._knowledge.state, root)
        return probe.verdict.succeeded or not self._holds(root, probe)

    def _holds(self, root: Root, probe: Probe) -> bool:
        guard = self._knowledge.starvation_guard
        end = ends_by(guard, self._knowledge.run_times, root)
        reservation = guard.reservation_against(root.priority, root.key, end)
        seeks = probe.verdict.code is Code.UNSCHEDULABLE and self._trials.could_evict(root)
        now = _Preemption(seeks, self._knowledge.run_protection)
        records = {record.key: record for record in root.records}
        told = (
            (records[key].reported, verdict)
            for key, verdict, _ in refused_parts(root, probe)
            if records[key].uid and (records[key].left is not None or not records[key].scheduled)
        )
        members = ((record.reported, verdict) for record, verdict in probe.refused)
        return _all_say(told, reservation, now) and _all_say(members, None, now)

    # --- pods --------------------------------------------------------------------------------------------

    def _is_outdated_pod(self, record: PodRecord, waiting: Waiting, known: _Verdicts) -> bool:
        """Pods of a class and priority that meet the same share a verdict. Nominated ones await victims."""
        if record.nominated or record.report_may_be_lost:
            return record.report_may_be_lost
        knowledge, guard = self._knowledge, self._knowledge.starvation_guard
        entry = waiting.priority, waiting.key, ends_by(guard, knowledge.run_times, record)
        shared = knowledge.state.scheduling_class(record), waiting.priority, tuple(guard.met_by(*entry))
        if shared not in known:
            with guard.lifted_for(*entry):
                probe = self._pod_trials.probe(record)
                with knowledge.nominations.held(waiting.priority, ()):
                    verdict = knowledge.state.scores(shared[0]).refuse()
            progress = probe.outcome.progress if probe.outcome is not None else None
            known[shared] = None if probe.node else replace(verdict, preemption=progress)
        verdict_now, statement = known[shared], record.reported.statement
        reservation = guard.reservation_against(*entry)
        if verdict_now is None or statement is None:
            return True
        as_told = self._with_protected(verdict_now, statement.verdict.preemption)
        return statement != Statement(as_told, reservation)

    def _with_protected(self, verdict: Verdict, told: PodPreemption | GroupPreemption | None) -> Verdict:
        """The verdict with the protected group that was named, if that still holds."""
        named = told.protected if isinstance(told, NoCandidateNode) else None
        if named is None or not self._knowledge.run_protection.still_holds(named):
            return verdict
        now = verdict.preemption
        return (
            replace(verdict, preemption=replace(now, protected=named))
            if isinstance(now, NoCandidateNode)
            else verdict
        )


def _all_say(
    told: Iterable[tuple[Reported, Verdict]], reservation: Reservation | None, now: _Preemption
) -> bool:
    """Members of one class share their verdict, so most comparisons are of the same two objects."""
    compared: dict[tuple[int, int], bool] = {}
    for reported, verdict in told:
        pair = (id(reported.statement.verdict) if reported.statement is not None else 0, id(verdict))
        if pair not in compared:
            compared[pair] = _says(reported, verdict, reservation, now)
        if not compared[pair]:
            return False
    return True


def _says(reported: Reported, verdict: Verdict, reservation: Reservation | None, now: _Preemption) -> bool:
    """Whether the last statement has this cause, and says the same of victims as would be said now."""
    statement = reported.statement
    if statement is None or statement.reservation != reservation:
        return False
    told = statement.verdict
    is_same = now.is_told_by(told.preemption, lacks_members=isinstance(verdict.cause, LacksMembers))
    return is_same and (told.code, told.cause) == (verdict.code, verdict.cause)
