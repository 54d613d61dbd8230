"""The state machine: `absorb` what happened in the cluster, `decide` what to do about it.

Equal events and equal times give equal decisions. The engine takes its own decisions to hold until it is told
otherwise: a refused binding comes back as an event, and the pod waits again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from posse.engine.cycle.advice import Advising, Advisory
from posse.engine.cycle.volume_waits import VolumeWaits
from posse.engine.cycle.waking import Waking
from posse.engine.decisions import Decision, Evict, ReportGroup
from posse.engine.events import Advised, EngineEvent, Observed, Solved, Vanished
from posse.engine.exact.questions import Question, Questions
from posse.engine.explain.explanation import Explanation, PodExplanation, all_situations, explain, explain_pod
from posse.engine.explain.group_status import GroupStatus
from posse.engine.explain.overview import Overview, overview
from posse.engine.explain.statistics import Overcommitted, Statistics, overcommitted, statistics
from posse.engine.groups.admission import BEING_BOUND, EXPECTING_PODS, WAITING_FOR_PODS, NotReady, expecting
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.tree import Root, Tree, leaves_of, root_of
from posse.engine.intake.cluster_events import Intake
from posse.engine.intake.failed_writes import FailedWrites
from posse.engine.intake.inherited_victims import claim_victims
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.placement.gang.attempt import Attempt
from posse.engine.placement.gang.identical_groups import (
    GroupShape,
    Remaining,
    place_identical,
    remaining_of,
    shape_of,
)
from posse.engine.placement.root import held_root
from posse.engine.preemption.ledger import Countdown
from posse.engine.queue.backlog import Waiting
from posse.engine.reporting.groups import mark_again, tell_disrupted, tell_pod, tell_pods, tell_started
from posse.engine.reporting.roots import (
    tell_countdown,
    tell_given_back,
    tell_held_root,
    tell_progress,
    tell_tried,
)
from posse.engine.reporting.trees import tell_tree_untold
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.invariants import no_gang_below_minimum
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.attempt_record import AttemptRecord, count, tried_group, tried_pods
from posse.engine.trials.group_trial import GroupTrial, GroupTrials
from posse.engine.trials.pod_trial import PodTrials, Trial
from posse.engine.verdict import SUCCESS, Code

_MOST_PODS = 1000
_MOST_ATTEMPTS = 32
"""Tried per call of decide, give or take a group, so that decisions reach the outside while the rest of a long queue is worked on.

Pods that are alike are one attempt together, and take no longer than a small group does.
"""


class Engine:
    def __init__(self, options: EngineOptions) -> None:
        self._known = Intake(options.profiles, options.backoff, options.gates)
        self.gates = options.gates
        self._faults = options.faults
        self._backlog = self._known.backlog
        known = self._known
        self._trials = PodTrials(known.state, known.groups, known.budgets, known.nominations)
        self._questions = Questions(options.asks, options.effort)
        self._group_trials = GroupTrials(
            known.state,
            known.groups,
            known.budgets,
            known.nominations,
            known.ledger,
            options.gates,
            self._questions,
        )
        self._advisory = Advisory(known, self._group_trials, Advising(options.asks))
        self._failed_writes = FailedWrites(known)
        self._volume_waits = VolumeWaits(known, self._failed_writes)
        self._countdown = Countdown(known.ledger)
        self._waking = Waking(known, self._group_trials)
        self._tried: list[AttemptRecord] = []
        """During the last call of decide."""
        self._misplaced: dict[GroupKey, None] = {}
        """Groups that cannot go on where their members run; what nodes say of themselves may change that."""

    def absorb(self, event: EngineEvent) -> None:
        if isinstance(event, Solved):
            if self._questions.answered(event):
                self._backlog.wake(event.group)
        elif isinstance(event, Advised):
            self._advisory.answered(event)
        elif isinstance(event, Observed | Vanished):
            self._known.absorb(event)
        else:
            self._failed_writes.absorb(event)

    def decide(self, now: float) -> list[Decision]:
        """Work through the queue, up to a bound; call again while `has_work`."""
        self._tried = []
        self._claim_victims()
        self._known.stamp_newly_queued(now)
        self._known.end_gatherings(now)
        settled = self._volume_waits.settle(now)
        decisions: list[Decision] = [*self._known.take_unreadable_pods(), *self._advisory.tell()]
        decisions.extend(mark_again(self._known.groups, self._failed_writes.take_lost_marks()))
        self._settle_groups(now, decisions)
        self._return_refused(now)
        self._known.starvation_guard.settle(now)
        self._waking.wake_improved(now, self._misplaced)
        self._backlog.promote(now)
        tried = attempts = 0
        while tried < _MOST_PODS and attempts < _MOST_ATTEMPTS and (head := self._backlog.peek()) is not None:
            attempts += 1
            if isinstance(head.key, GroupKey):
                tried += self._try_group(head, head.key, now, decisions)
            else:
                tried += self._try_run(head, _MOST_PODS - tried, now, decisions)
        self._count_down(now, decisions)
        decisions.extend(self._advisory.ask(now))
        evictions = [decision for decision in decisions if isinstance(decision, Evict)]
        decisions.extend(tell_disrupted(self._known.pods, self._known.groups, evictions))
        return settled + self._volume_waits.hold_back(decisions, now)

    @property
    def has_work(self) -> bool:
        """Whether somebody's turn has come, or somebody waits whom something given back meanwhile may help."""
        has_news = self._known.state.has_improved_rows and self._backlog.has_parked_classes
        return has_news or self._backlog.peek() is not None

    def next_wakeup(self) -> float | None:
        """When to call `decide` even if nothing happens."""
        known = self._known
        queues = (self._backlog, self._volume_waits, known.starvation_guard, known.gatherings)
        sources = (*queues, self._countdown, self._advisory)
        times = [source.next_wakeup() for source in sources]
        return min((time for time in times if time is not None), default=None)

    def tried(self) -> tuple[AttemptRecord, ...]:
        """What the last call of `decide` tried, also where nobody had to be told anything new."""
        return tuple(self._tried)

    def statistics(self) -> Statistics:
        return statistics(self._known)

    def overcommitted(self) -> list[Overcommitted]:
        return overcommitted(self._known.state.nodes)

    def take_plugin_faults(self) -> list[str]:
        """What plugins did wrong since the last time; the same thing is told once."""
        return self._faults.take()

    def overview(self) -> Overview:
        return overview(self._known)

    def situations(self) -> Iterator[GroupStatus]:
        """How every group stands, in order of their first sight."""
        return all_situations(self._known)

    def explain(self, key: GroupKey) -> Explanation | None:
        self._known.rank_members()
        return explain(self._known, self._group_trials, key)

    def explain_pod(self, uid: str) -> PodExplanation | None:
        self._known.rank_members()
        return explain_pod(self._known, self._trials, uid)

    def _settle_groups(self, now: float, decisions: list[Decision]) -> None:
        """For every group that changed: may it be tried now?"""
        for key, is_redefined in self._known.take_unsettled_groups().items():
            group = root_of(self._known.groups, key)
            if group is None or not self._known.is_ours(group):
                self._backlog.forget(key)
                self._questions.forget(key)
                self._advisory.forget(key)
                self._known.ledger.release(key)
                self._misplaced.pop(key, None)
                decisions.extend(self._tell_without_pods(group))
                continue
            decisions.extend(tell_progress(group))
            waiting = group.unattached()
            if not waiting:
                self._backlog.remove(key)
                self._known.ledger.release(key)
            elif (hold := self._held(group)) is not None:
                self._put_aside(group, waiting, hold, now)
                decisions.extend(tell_held_root(group, hold))
                decisions.extend(tell_given_back(group))
            else:
                self._queue_group(group, waiting, now)
                if is_redefined:
                    self._backlog.wake(key)

    def _tell_without_pods(self, group: Root | None) -> Iterator[Decision]:
        """What is wrong with a tree is told to its groups, though nobody has made a pod for them yet.

        And what has started is told so, if it may not know, though its pods are gone.
        """
        told: list[Decision] = []
        if isinstance(group, Tree) and not group.members:
            told += tell_tree_untold(group)
            hold = held_root(self._known.groups, group)
            told += tell_held_root(group, hold) if hold is not None else ()
        elif isinstance(group, GroupRecord) and group.is_untold:
            told += tell_started(group)
        for one in told:
            if isinstance(one, ReportGroup):
                yield replace(one, scheduler_name=self._known.own_name)
            else:
                yield one

    def _held(self, group: Root) -> NotReady | None:
        hold = held_root(self._known.groups, group)
        for leaf in leaves_of(group):
            leaf.awaits_bindings = hold is not None and hold.reason == BEING_BOUND
        return hold

    def _put_aside(self, group: Root, waiting: list[PodRecord], hold: NotReady, now: float) -> None:
        """A group whose bindings are on their way keeps its place, and any penalty for one that was refused."""
        if hold.reason == BEING_BOUND:
            self._queue_group(group, waiting, now)
            self._backlog.put_aside(group.key, now)
        else:
            self._backlog.suspend(group.key)
            self._give_back_room(group, hold)
        if hold.reason == EXPECTING_PODS:
            for leaf in leaves_of(group):
                if expecting(leaf) is not None:
                    self._known.gatherings.begin(leaf.key, now)

    def _give_back_room(self, group: Root, hold: NotReady) -> None:
        """Room that was made for it is kept only while nothing but pods is missing: those may be made anew in a moment."""
        if hold.reason not in {WAITING_FOR_PODS, EXPECTING_PODS}:
            self._known.ledger.release(group.key)
            for record in group.members.values():
                self._known.nominations.drop(record)

    def _queue_group(self, group: Root, waiting: list[PodRecord], now: float) -> None:
        for leaf in leaves_of(group):
            leaf.gathered = True
            self._known.gatherings.end(leaf.key)
        entry = self._backlog.get(group.key)
        oldest = waiting[0]
        for record in waiting:
            record.queued_at = record.queued_at or now
        if entry is None:
            entry = Waiting(group.key, group.priority, oldest.created, oldest.arrival, len(waiting))
            self._backlog.add(entry)
        else:
            self._backlog.update(group.key, group.priority, len(waiting))
            self._backlog.resume(group.key, now)

    def _return_refused(self, now: float) -> None:
        """Who waits again because a binding was refused does so behind a backoff; members together, as one."""
        for key in self._failed_writes.take_refused():
            if key in self._backlog:
                self._backlog.penalise(key, now)

    def _try_group(self, entry: Waiting, key: GroupKey, now: float, decisions: list[Decision]) -> int:
        """Try the group at the head, and those behind it that are like it; returns how many pods that were."""
        self._backlog.take(entry)
        group = root_of(self._known.groups, key)
        if group is None:
            self._backlog.remove(key)
            return 0
        # Whatever else could hold it back was looked at when it last changed.
        hold = self._held(group) if group.relies_on_promises else None
        if hold is not None:
            self._put_aside(group, group.unattached(), hold, now)
            decisions.extend(tell_given_back(group))
            return 0
        pattern = self._pattern(group)
        with self._known.starvation_guard.lifted_for(group.priority, key):
            trial = self._group_trials.run(group)
        if trial.question is not None:
            self._ask(group, trial.question, now, decisions)
            return entry.size
        self._conclude(entry, group, trial, now, decisions)
        placed = trial.attempt.placed
        if pattern is None or len(placed) != pattern.size:
            return entry.size
        return entry.size + self._try_followers(entry, pattern, placed[0].node, now, decisions)

    def _pattern(self, group: Root) -> GroupShape | None:
        """What those behind it must be like to follow it; None if it has a claim that they have not."""
        kept = self._known.starvation_guard.kept
        is_favoured = self._questions.has_answer(group.key) or (kept is not None and kept.key == group.key)
        return None if is_favoured or isinstance(group, Tree) else shape_of(self._known.state, group)

    def _try_followers(
        self, head: Waiting, pattern: GroupShape, node: str, now: float, decisions: list[Decision]
    ) -> int:
        """Start the groups behind the one that was just placed there which are like it; returns how many pods that were."""
        known = self._known
        with known.starvation_guard.lifted_for(head.priority), known.nominations.held(head.priority, ()):
            wake = remaining_of(known.state, pattern, node)
            run = self._take_followers(head, wake)
            members = place_identical(known.state, wake, [group for _, group in run])
        for (entry, group), placed in zip(run, members, strict=True):
            no_gang_below_minimum(group.key, len(placed), group.minimum)
            self._conclude(entry, group, GroupTrial(Attempt(SUCCESS, placed)), now, decisions)
        return len(run) * pattern.size

    def _take_followers(self, head: Waiting, wake: Remaining) -> list[tuple[Waiting, GroupRecord]]:
        taken: list[tuple[Waiting, GroupRecord]] = []
        while len(taken) < min(wake.groups, _MOST_PODS // wake.pattern.size):
            entry = self._backlog.peek()
            if entry is None or not isinstance(entry.key, GroupKey) or entry.priority != head.priority:
                break
            group = root_of(self._known.groups, entry.key)
            if not isinstance(group, GroupRecord) or self._pattern(group) != wake.pattern:
                break
            self._backlog.take(entry)
            taken.append((entry, group))
        return taken

    def _conclude(
        self, entry: Waiting, group: Root, trial: GroupTrial, now: float, decisions: list[Decision]
    ) -> None:
        """Tell what came of an attempt, and have the group wait if anybody is left."""
        key, room = group.key, self._known.starvation_guard
        self._questions.forget(key)
        attempt = trial.attempt
        count(attempt)
        self._known.ledger.started(attempt.placed)
        if attempt.placed:
            self._known.ledger.release(key)
        cascades = bool(trial.victims) and self._known.ledger.begin(key, trial.victims)
        self._tried += tried_group(group, trial, is_cascade=cascades)
        remark = room.remark(group.priority, key)
        decisions.extend(
            tell_tried(group, trial, remark, self._advisory.advice(group, attempt.verdict, remark, now))
        )
        decisions.extend(self._crowd_out([*attempt.placed, *group.unattached()], group.priority))
        room.tried(group, now, started=attempt.verdict.succeeded)
        self._misplaced.pop(key, None)
        if Code.ERROR in (attempt.verdict.code, *(part.verdict.code for part in attempt.parts)):
            self._misplaced[key] = None
        if attempt.placed:
            room.note_placed(now)
        if not attempt.refused:
            self._backlog.remove(key)
            return
        self._backlog.park(
            entry, [self._known.state.scheduling_class(record) for record, _ in attempt.refused], now
        )
        if attempt.placed and self._group_trials.could_evict(group):
            # Those that were left over may have room made for them, which never happens while others are placed.
            self._backlog.wake(key)

    def _claim_victims(self) -> None:
        """Whoever is named by victims and does not wait by now is not going to."""
        claim_victims(self._known)
        self._known.unclaimed_victims.clear()

    def _count_down(self, now: float, decisions: list[Decision]) -> None:
        for key, preemption in self._countdown.take_due(now):
            group = root_of(self._known.groups, key)
            if group is not None:
                decisions.extend(tell_countdown(group, preemption))

    def _ask(self, group: Root, question: Question, now: float, decisions: list[Decision]) -> None:
        """It waits for the answer; meanwhile it is others' turn."""
        asked = self._questions.ask(group.key, question)
        if asked is not None:
            decisions.append(asked)
        self._backlog.put_aside(group.key, now)

    def _try_run(self, head: Waiting, most: int, now: float, decisions: list[Decision]) -> int:
        """Try the pod at the head together with those behind it that are its equals."""
        scheduling_class, run = self._take_run(head, most)
        records = [self._known.pods[str(entry.key)] for entry in run]
        room = self._known.starvation_guard
        with room.lifted_for(head.priority):
            trial = self._trials.run(scheduling_class, records)
        count(trial.attempt)
        seeks_victims = self._known.state.profile(scheduling_class.pod_class).preempts
        self._known.ledger.started(trial.attempt.placed)
        self._tried += tried_pods(trial, self._begin_preemptions(trial), sought_victims=seeks_victims)
        decisions.extend(tell_pods(trial, room.remark(head.priority)))
        decisions.extend(self._crowd_out(records, head.priority))
        placed = len(trial.attempt.placed)
        if placed:
            room.note_placed(now)
        for entry in run[:placed]:
            self._backlog.remove(entry.key)
        for entry in run[placed:]:
            self._backlog.park(entry, [scheduling_class], now)
        return len(run)

    def _crowd_out(self, arrived: Iterable[PodRecord], priority: int) -> Iterator[Decision]:
        """Whoever waits for room that these have now, or will have, looks for other room at once."""
        nominations = self._known.nominations
        nodes = (
            dict.fromkeys(record.node or record.nominated for record in arrived) if len(nominations) else {}
        )
        for record in nominations.crowded_out(nodes, priority) if nodes else ():
            nominations.drop(record)
            yield from tell_pod(record, *record.reported[:2])
            self._backlog.wake(
                self._known.entry_of(record.group) if record.group is not None else record.ref.uid
            )

    def _begin_preemptions(self, trial: Trial) -> list[str]:
        """Uids of the pods that were evicted themselves, and now have others evicted."""
        victims: dict[str, list[PodRecord]] = {}
        for eviction in trial.evictions:
            victims.setdefault(eviction.preemptor.ref.uid, []).append(eviction.victim)
        pods, ledger = self._known.pods, self._known.ledger
        return [uid for uid, evicted in victims.items() if ledger.begin(pods[uid], evicted)]

    def _take_run(self, head: Waiting, most: int) -> tuple[SchedulingClass, list[Waiting]]:
        scheduling_class = self._scheduling_class(head)
        run: list[Waiting] = []
        following: Waiting | None = head
        while (
            following is not None and len(run) < most and self._goes_along(following, head, scheduling_class)
        ):
            self._backlog.take(following)
            run.append(following)
            following = self._backlog.peek()
        return scheduling_class, run

    def _goes_along(self, entry: Waiting, head: Waiting, scheduling_class: SchedulingClass) -> bool:
        """Equal in every respect; who has a node waiting for it goes alone."""
        if entry is head:
            return True
        if isinstance(entry.key, GroupKey) or entry.priority != head.priority:
            return False
        pods = self._known.pods
        nominated = pods[str(head.key)].nominated or pods[entry.key].nominated
        return not nominated and self._scheduling_class(entry) == scheduling_class

    def _scheduling_class(self, entry: Waiting) -> SchedulingClass:
        return self._known.state.scheduling_class(self._known.pods[str(entry.key)])
