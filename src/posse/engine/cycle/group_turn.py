"""The turn of a group at the head of the queue: try it, report the outcome, start identical groups."""

from posse.engine.causes import TooManySteps
from posse.engine.cycle.advice import Advisory
from posse.engine.cycle.cycle import MAX_PODS, Cycle, count, tried_group
from posse.engine.cycle.settle import GroupSettling
from posse.engine.exact.questions import Question
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import Attempt, broken_off
from posse.engine.placement.gang.identical_groups import (
    GroupShape,
    Remaining,
    has_shape,
    place_identical,
    remaining_of,
    shape_of,
)
from posse.engine.queue.backlog import Waiting
from posse.engine.queue.starvation_guard import ends_by
from posse.engine.reporting.parts import mark_nominations_lost, mark_tried
from posse.engine.reporting.waiting_parts import record_of
from posse.engine.state.effort import allowed_steps, pause_seconds
from posse.engine.state.invariants import no_gang_below_minimum
from posse.engine.statement import NEVER_REPORTED, Statement
from posse.engine.trials.group_trial import GroupTrial, GroupTrials
from posse.engine.verdict import SUCCESS, Code

_PRECEDENCE_SECONDS = 0.5
"""Most questions are answered within this time; a longer search delays nothing else."""


class GroupTurns:
    def __init__(
        self, knowledge: Knowledge, trials: GroupTrials, settling: GroupSettling, advisory: Advisory
    ) -> None:
        self._knowledge = knowledge
        self._trials = trials
        self._questions = trials.questions
        self._settling = settling
        self._advisory = advisory

    def take(self, head: Waiting, key: GroupKey, cycle: Cycle) -> int:
        """Try the group at the head and identical ones behind it; returns the number of pods tried."""
        knowledge = self._knowledge
        knowledge.backlog.take(head)
        group = root_of(knowledge.groups, key)
        if group is None:
            knowledge.backlog.remove(key)
            return 0
        # Everything else that could hold it back was checked when it last changed.
        hold = self._settling.hold_if_not_ready(group, cycle) if group.relies_on_promises else None
        if hold is not None:
            cycle.decisions.extend(mark_nominations_lost(group, hold))
            return 0
        shape = self._shape(group) if self._is_followed(head) else None
        trial = self._try(head, group)
        if trial.question is not None:
            self._ask(group, trial.question, cycle)
            return head.size
        self._conclude(head, group, trial, cycle)
        placed = trial.attempt.placed
        if shape is None or len(placed) != shape.size:
            return head.size
        return head.size + self._start_identical(head, shape, placed[0].node, cycle)

    def _try(self, head: Waiting, group: Root) -> GroupTrial:
        """Try it within the steps that it may take by now."""
        effort = self._knowledge.state.effort
        effort.limit(allowed_steps(head.postponements))
        with self._knowledge.starvation_guard.lifted_for(group.priority, group.key, self._ends_by(group)):
            trial = self._trials.run(group)
        is_unfinished = effort.is_spent and not (trial.victims or trial.question)
        effort.lift()
        if is_unfinished and not trial.attempt.verdict.succeeded:
            return GroupTrial(broken_off(group.unattached()))
        return trial

    def _ends_by(self, group: Root) -> float:
        return ends_by(self._knowledge.starvation_guard, self._knowledge.run_times, group)

    def _ask(self, group: Root, question: Question, cycle: Cycle) -> None:
        """The group waits for the answer of the exact search; meanwhile others are tried.

        If it was refused before, what it waited for may just have come: for a moment, those behind it leave
        that alone.
        """
        backlog, record = self._knowledge.backlog, record_of(group)
        asked = self._questions.ask(group.key, question)
        if asked is not None:
            cycle.decisions.append(asked)
        backlog.put_aside(group.key, cycle.now)
        if asked is not None and record is not None and record.reported != NEVER_REPORTED:
            backlog.let_nothing_overtake(group.key, cycle.now + _PRECEDENCE_SECONDS)

    def _conclude(self, entry: Waiting, group: Root, trial: GroupTrial, cycle: Cycle) -> None:
        """Report the outcome of an attempt, and keep the group in the queue if any pod is left."""
        self._questions.forget(group.key)
        attempt, ledger = trial.attempt, self._knowledge.ledger
        count(attempt, cycle.now)
        if attempt.placed and (ledger.under_way or ledger.displaced):
            ledger.started(attempt.placed)
            ledger.release(group.key)
        cascades = bool(trial.victims) and ledger.begin(group.key, trial.victims)
        cycle.attempts += tried_group(group, trial, is_cascade=cascades)
        self._report(group, trial, cycle)
        if self._knowledge.nominations.records:
            arrived = [*attempt.placed, *group.unattached()]
            cycle.requeue_crowded_out(self._knowledge, arrived, group.priority)
        self._note_outcome(group, attempt, cycle)
        self._return_to_queue(entry, group, attempt, cycle)

    def _report(self, group: Root, trial: GroupTrial, cycle: Cycle) -> None:
        if trial.attempt.verdict.succeeded and not trial.attempt.parts:
            if self._advisory.book.asks:
                self._advisory.forget(group.key)
            cycle.decisions.extend(mark_tried(group, trial))
            return
        guard = self._knowledge.starvation_guard
        reservation = guard.reservation_against(group.priority, group.key, self._ends_by(group))
        refusal = Statement(trial.attempt.verdict, reservation)
        advice = self._advisory.advice(group, refusal, cycle.now)
        cycle.decisions.extend(mark_tried(group, trial, reservation, advice))

    def _note_outcome(self, group: Root, attempt: Attempt, cycle: Cycle) -> None:
        guard, misplaced = self._knowledge.starvation_guard, self._knowledge.misplaced_groups
        guard.tried(group, cycle.now, started=attempt.verdict.succeeded)
        if misplaced:
            misplaced.pop(group.key, None)
        if Code.ERROR in (attempt.verdict.code, *[part.verdict.code for part in attempt.parts]):
            misplaced[group.key] = None
        if attempt.placed:
            guard.note_placed(cycle.now)
            if self._knowledge.lookahead is not None:
                self._knowledge.run_times.note_started(attempt.placed)

    def _return_to_queue(self, entry: Waiting, group: Root, attempt: Attempt, cycle: Cycle) -> None:
        backlog, state = self._knowledge.backlog, self._knowledge.state
        if not attempt.refused:
            backlog.remove(group.key)
            return
        if any(isinstance(verdict.cause, TooManySteps) for _, verdict in attempt.refused):
            backlog.postpone(entry, cycle.now, pause_seconds(entry.postponements))
            return
        backlog.mark_unschedulable(
            entry, [state.scheduling_class(record) for record, _ in attempt.refused], cycle.now
        )
        if self._knowledge.lookahead is not None:
            self._knowledge.lookahead.rank(entry, cycle.now)
            self._knowledge.starvation_guard.refused(entry, cycle.now)
        if attempt.placed and self._trials.could_evict(group):
            # The pods left over may preempt, which an attempt that places others never does.
            backlog.wake(group.key)

    def _is_followed(self, head: Waiting) -> bool:
        """Whether the next entry is a group of the same priority, which may be identical."""
        return _group_key(self._knowledge.backlog.peek(), head.priority) is not None

    def _shape(self, group: Root) -> GroupShape | None:
        """The shape that groups behind it must share; None if it has to be tried by itself."""
        return shape_of(self._knowledge.state, group) if self._is_ordinary(group) else None

    def _is_ordinary(self, group: Root) -> bool:
        """Whether neither capacity nor an answer of the exact search is its own."""
        kept = self._knowledge.starvation_guard.reservations
        return not (self._questions.has_answer(group.key) or any(one.key == group.key for one in kept))

    def _start_identical(self, head: Waiting, shape: GroupShape, node: str, cycle: Cycle) -> int:
        """Start identical groups behind the head; returns the number of their pods."""
        knowledge = self._knowledge
        with (
            knowledge.starvation_guard.lifted_for(head.priority),
            knowledge.nominations.held(head.priority, ()),
        ):
            remaining = remaining_of(knowledge.state, shape, node)
            taken = self._take_identical(head, remaining)
            members = place_identical(knowledge.state, remaining, [group for _, group in taken])
        for (entry, group), placed in zip(taken, members, strict=True):
            no_gang_below_minimum(group.key, len(placed), group.minimum)
            self._conclude(entry, group, GroupTrial(Attempt(SUCCESS, placed)), cycle)
        return len(taken) * shape.size

    def _take_identical(self, head: Waiting, remaining: Remaining) -> list[tuple[Waiting, Root]]:
        knowledge, state = self._knowledge, self._knowledge.state
        taken: list[tuple[Waiting, Root]] = []
        most = min(remaining.groups, MAX_PODS // remaining.pattern.size)
        while len(taken) < most:
            entry = knowledge.backlog.peek()
            key = _group_key(entry, head.priority)
            if entry is None or key is None:
                break
            group = root_of(knowledge.groups, key)
            if group is None or not (self._is_ordinary(group) and has_shape(state, group, remaining.pattern)):
                break
            knowledge.backlog.take(entry)
            taken.append((entry, group))
        return taken


def _group_key(entry: Waiting | None, priority: int) -> GroupKey | None:
    """Return the key of an entry that is a group of this priority."""
    if entry is None or entry.priority != priority or not isinstance(entry.key, GroupKey):
        return None
    return entry.key
