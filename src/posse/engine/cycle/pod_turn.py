"""The turn of a single pod at the head of the queue, together with equal pods behind it."""

from posse.engine.cycle.cycle import Cycle, count, tried_pods
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.queue.backlog import Key, Waiting
from posse.engine.reporting.pods import mark_pods_tried
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.effort import FIRST_STEPS, pause_seconds
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.pod_trial import PodTrials, Trial

_FORGET_SECONDS = 300.0
"""A class that has taken few steps for so long begins again with short pauses."""


class ClassPauses:
    """Classes whose pods have just taken as many steps as one decision may."""

    def __init__(self) -> None:
        self._paused: dict[SchedulingClass, tuple[float, int]] = {}
        """Until when, and the pauses so far."""

    def left(self, scheduling_class: SchedulingClass, now: float) -> float:
        """Return the seconds until pods of the class may be tried; 0 if they may be now."""
        until, _ = self._paused.get(scheduling_class, (now, 0)) if self._paused else (now, 0)
        return max(0.0, until - now)

    def begin(self, scheduling_class: SchedulingClass, now: float) -> None:
        self._paused = {
            one: (until, times)
            for one, (until, times) in self._paused.items()
            if until + _FORGET_SECONDS > now
        }
        _, times = self._paused.get(scheduling_class, (now, 0))
        self._paused[scheduling_class] = now + pause_seconds(times), times + 1


class PodTurns:
    def __init__(self, knowledge: Knowledge, trials: PodTrials) -> None:
        self._knowledge = knowledge
        self._trials = trials
        self._pauses = ClassPauses()

    def take(self, head: Waiting, most: int, cycle: Cycle) -> int:
        """Try the pod at the head and up to so many equal pods with it; returns the number of pods tried."""
        knowledge = self._knowledge
        scheduling_class = self._scheduling_class(head)
        if (pause := self._pauses.left(scheduling_class, cycle.now)) > 0:
            return self._postpone(head, scheduling_class, most, cycle.now, pause)
        cost = knowledge.state.scores(scheduling_class).cost
        most = min(most, max(1, FIRST_STEPS // cost))
        run = self._take_run(head, scheduling_class, most, cycle.now)
        if len(run) * cost >= FIRST_STEPS - cost:
            self._pauses.begin(scheduling_class, cycle.now)
        records = [knowledge.pods[str(entry.key)] for entry in run]
        guard = knowledge.starvation_guard
        with guard.lifted_for(head.priority, head.key, cycle.now + head.safe_seconds):
            trial = self._trials.run(scheduling_class, records)
        count(trial.attempt, cycle.now)
        knowledge.ledger.started(trial.attempt.placed)
        seeks_victims = knowledge.state.profile(scheduling_class.pod_class).preempts
        if trial.attempt.refused:
            cycle.attempts += tried_pods(trial, self._begin_preemptions(trial), sought_victims=seeks_victims)
        cycle.decisions.extend(mark_pods_tried(trial, guard.reservation_against(head.priority)))
        if len(knowledge.nominations):
            cycle.requeue_crowded_out(knowledge, records, head.priority)
        placed = len(trial.attempt.placed)
        if placed:
            guard.note_placed(cycle.now)
        for entry in run[:placed]:
            knowledge.backlog.remove(entry.key)
        for entry in run[placed:]:
            knowledge.backlog.mark_unschedulable(entry, [scheduling_class], cycle.now)
            if knowledge.lookahead is not None:
                knowledge.lookahead.rank(entry, cycle.now)
                guard.refused(entry, cycle.now)
        return len(run)

    def _begin_preemptions(self, trial: Trial) -> list[str]:
        """Enter preemptions in the ledger; returns the uids of preemptors that were victims themselves."""
        victims: dict[str, list[PodRecord]] = {}
        for eviction in trial.evictions:
            victims.setdefault(eviction.preemptor.ref.uid, []).append(eviction.victim)
        pods, ledger = self._knowledge.pods, self._knowledge.ledger
        return [uid for uid, evicted in victims.items() if ledger.begin(pods[uid], evicted)]

    def _postpone(
        self, head: Waiting, scheduling_class: SchedulingClass, most: int, now: float, seconds: float
    ) -> int:
        """Put pods of a class that has just taken many steps behind others."""
        run = self._take_run(head, scheduling_class, most, now)
        for entry in run:
            self._knowledge.backlog.postpone(entry, now, seconds)
        return len(run)

    def _take_run(
        self, head: Waiting, scheduling_class: SchedulingClass, most: int, now: float
    ) -> list[Waiting]:
        run: list[Waiting] = []
        following: Waiting | None = head
        met = self._met_by(head, now)
        while (
            following is not None
            and len(run) < most
            and self._goes_along(following, head, scheduling_class)
            and self._met_by(following, now) == met
        ):
            self._knowledge.backlog.take(following)
            run.append(following)
            following = self._knowledge.backlog.peek()
        return run

    def _met_by(self, entry: Waiting, now: float) -> tuple[Key, ...]:
        """The reservations that count for the pod."""
        guard = self._knowledge.starvation_guard
        if not guard.reservations:
            return ()
        return guard.met_by(entry.priority, entry.key, now + entry.safe_seconds)

    def _goes_along(self, entry: Waiting, head: Waiting, scheduling_class: SchedulingClass) -> bool:
        """Whether the pod is equal to the head in every respect. Pods with a nominated node go alone."""
        if entry is head:
            return True
        if isinstance(entry.key, GroupKey) or entry.priority != head.priority:
            return False
        pods = self._knowledge.pods
        nominated = pods[str(head.key)].nominated or pods[entry.key].nominated
        return not nominated and self._scheduling_class(entry) == scheduling_class

    def _scheduling_class(self, entry: Waiting) -> SchedulingClass:
        return self._knowledge.state.scheduling_class(self._knowledge.pods[str(entry.key)])
