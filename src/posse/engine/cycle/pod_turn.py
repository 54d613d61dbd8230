"""The turn of a single pod at the head of the queue, together with equal pods behind it.

While nothing is reserved or nominated, the pods behind those follow at once: each run of equal pods is placed
where it would go in a turn of its own, and all of them are concluded together.
"""

from posse.engine.cycle.cycle import Cycle, count, tried_pods
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import Attempt
from posse.engine.placement.search.fill import fill
from posse.engine.queue.backlog import Waiting
from posse.engine.queue.capacity_reservation import CapacityReservation
from posse.engine.queue.starvation_guard import ends_by
from posse.engine.reporting.pods import mark_pods_tried
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.draft import Draft
from posse.engine.state.effort import FIRST_STEPS, pause_seconds
from posse.engine.state.pod_record import PodRecord
from posse.engine.statement import Reservation
from posse.engine.trials.pod_trial import PodTrials, Trial
from posse.engine.verdict import SUCCESS

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

    def take(self, head: Waiting, most: int, runs: int, cycle: Cycle) -> tuple[int, int]:
        """Try the pod at the head and pods behind it; returns how many pods and runs of equal ones.

        There are no more than the caller allows.
        """
        knowledge = self._knowledge
        if knowledge.starvation_guard.reservations or len(knowledge.nominations):
            return self._take_run_alone(head, most, cycle), 1
        draft, entries, taken = Draft(knowledge.state), list[Waiting](), 0
        following: Waiting | None = head
        while following is not None and taken < runs and len(entries) < most:
            if isinstance(following.key, GroupKey):
                break
            record = knowledge.pods[following.key]
            scheduling_class = knowledge.state.scheduling_class(record)
            is_paused = self._pauses.left(scheduling_class, cycle.now) > 0
            if is_paused or not self._is_plain(scheduling_class):
                break
            knowledge.at_work = record.ref
            run, following = self._take_run(following, scheduling_class, most - len(entries))
            records = [knowledge.pods[str(entry.key)] for entry in run] if len(run) > 1 else [record]
            start = draft.checkpoint()
            placed = fill(knowledge.state, draft, scheduling_class, records)
            if placed < len(records):
                draft.roll_back(start)
                self._conclude_placed(entries, draft, cycle)
                self._try_alone(run, scheduling_class, cycle, fits=placed > 0)
                return len(entries) + len(run), taken + 1
            entries += run
            taken += 1
        self._conclude_placed(entries, draft, cycle)
        return (len(entries), taken) if taken else (self._take_run_alone(head, most, cycle), 1)

    def _is_plain(self, scheduling_class: SchedulingClass) -> bool:
        """Whether each of these pods takes the best node, and is a concern of no node but that."""
        pod_class, state = scheduling_class.pod_class, self._knowledge.state
        packing = state.profile(pod_class).packing
        is_packed = packing is not None and packing.single_pods
        return pod_class.devices is None and not is_packed and state.scores(scheduling_class).is_row_local

    def _take_run_alone(self, head: Waiting, most: int, cycle: Cycle) -> int:
        """Try the pod at the head and up to so many equal pods with it; returns the number of pods tried."""
        knowledge = self._knowledge
        scheduling_class = self._scheduling_class(head)
        if (pause := self._pauses.left(scheduling_class, cycle.now)) > 0:
            return self._postpone(head, scheduling_class, most, cycle.now, pause)
        cost = knowledge.state.scores(scheduling_class).cost
        most = min(most, max(1, FIRST_STEPS // cost))
        run, _ = self._take_run(head, scheduling_class, most)
        if len(run) * cost >= FIRST_STEPS - cost:
            self._pauses.begin(scheduling_class, cycle.now)
        self._try_alone(run, scheduling_class, cycle)
        return len(run)

    def _try_alone(
        self, run: list[Waiting], scheduling_class: SchedulingClass, cycle: Cycle, *, fits: bool = True
    ) -> None:
        """Try a run that was taken from the queue; pods without a node may preempt, or wait.

        If it is known that none of them `fits`, no node is sought.
        """
        knowledge, head = self._knowledge, run[0]
        records = [knowledge.pods[str(entry.key)] for entry in run]
        guard = knowledge.starvation_guard
        attempt = self._trials.run if fits else self._trials.refuse
        end = ends_by(guard, knowledge.run_times, records[0])
        with guard.lifted_for(head.priority, head.key, end):
            trial = attempt(scheduling_class, records)
        self._conclude(run, trial, cycle, guard.reservation_against(head.priority, head.key, end))
        if len(knowledge.nominations):
            cycle.requeue_crowded_out(knowledge, records, head.priority)
        for entry in run[len(trial.attempt.placed) :]:
            knowledge.backlog.mark_unschedulable(entry, [scheduling_class], cycle.now)
            if knowledge.lookahead is not None:
                knowledge.lookahead.rank(entry, cycle.now)
                guard.refused(entry, cycle.now)

    def _conclude_placed(self, entries: list[Waiting], draft: Draft, cycle: Cycle) -> None:
        if entries:
            self._conclude(entries, Trial(Attempt(SUCCESS, draft.commit())), cycle)

    def _conclude(
        self, run: list[Waiting], trial: Trial, cycle: Cycle, reservation: Reservation | None = None
    ) -> None:
        """Report what was tried, and remove placed pods, the first of the run, from the queue."""
        knowledge, attempt = self._knowledge, trial.attempt
        count(attempt, cycle.now)
        knowledge.ledger.started(attempt.placed)
        guard = knowledge.starvation_guard
        if attempt.refused:
            seeks = knowledge.state.profile(attempt.refused[0][0].pod_class).preempts
            cycle.attempts += tried_pods(trial, self._begin_preemptions(trial), sought_victims=seeks)
        cycle.decisions.extend(mark_pods_tried(trial, reservation))
        if attempt.placed:
            guard.note_placed(cycle.now)
            if knowledge.lookahead is not None:
                knowledge.run_times.note_started(attempt.placed)
        for entry in run[: len(attempt.placed)]:
            knowledge.backlog.remove(entry.key)

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
        run, _ = self._take_run(head, scheduling_class, most)
        for entry in run:
            self._knowledge.backlog.postpone(entry, now, seconds)
        return len(run)

    def _take_run(
        self, head: Waiting, scheduling_class: SchedulingClass, most: int
    ) -> tuple[list[Waiting], Waiting | None]:
        """Take the pod at the head and equal ones behind it; returns them and the entry that follows."""
        backlog = self._knowledge.backlog
        backlog.take(head)
        run, following, met = [head], backlog.peek(), self._met_by(head)
        while (
            following is not None
            and len(run) < most
            and self._goes_along(following, head, scheduling_class)
            and self._met_by(following) == met
        ):
            backlog.take(following)
            run.append(following)
            following = backlog.peek()
        return run, following

    def _met_by(self, entry: Waiting) -> list[CapacityReservation]:
        """The reservations that count for the pod."""
        guard = self._knowledge.starvation_guard
        if not guard.reservations:
            return []
        end = ends_by(guard, self._knowledge.run_times, self._knowledge.pods[str(entry.key)])
        return guard.met_by(entry.priority, entry.key, end)

    def _goes_along(self, entry: Waiting, head: Waiting, scheduling_class: SchedulingClass) -> bool:
        """Whether the pod is equal to the head in every respect. Pods with a nominated node go alone."""
        if isinstance(entry.key, GroupKey) or entry.priority != head.priority:
            return False
        pods = self._knowledge.pods
        record = pods[entry.key]
        if record.pod_class is not scheduling_class.pod_class:
            return False
        nominated = pods[str(head.key)].nominated or record.nominated
        return not nominated and self._knowledge.state.scheduling_class(record) == scheduling_class

    def _scheduling_class(self, entry: Waiting) -> SchedulingClass:
        return self._knowledge.state.scheduling_class(self._knowledge.pods[str(entry.key)])
