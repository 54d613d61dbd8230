"""One call of `decide`, step by step."""

from collections.abc import Sequence

from posse.engine.cycle.advice import Advisory
from posse.engine.cycle.claim_releases import ClaimReleases
from posse.engine.cycle.claim_waits import ClaimWaits
from posse.engine.cycle.claim_writes import ClaimsOfBindings
from posse.engine.cycle.cycle import MAX_PODS, AttemptRecord, Cycle
from posse.engine.cycle.group_turn import GroupTurns
from posse.engine.cycle.pod_turn import PodTurns
from posse.engine.cycle.renewal import Renewal
from posse.engine.cycle.settle import GroupSettling
from posse.engine.cycle.volume_waits import VolumeWaits
from posse.engine.cycle.waking import SetAsideLimit, Waking
from posse.engine.decisions import Decision, Evict, ReportPod
from posse.engine.groups.tree import root_of
from posse.engine.intake.failed_writes import FailedWrites
from posse.engine.intake.knowledge import Knowledge
from posse.engine.intake.pod_events import claim_victims, give_precedence, rank_again, reclassify, requeue
from posse.engine.keys import GroupKey
from posse.engine.preemption.awaited_protection import STEPS_OF_A_CYCLE
from posse.engine.queue.timers import COUNTDOWN_SECONDS, DelayTimers
from posse.engine.reporting.parts import mark_disrupted, still_valid
from posse.engine.reporting.waiting_parts import mark_countdown
from posse.engine.trials.group_trial import GroupTrials
from posse.engine.trials.pod_trial import PodTrials

_MAX_ATTEMPTS = 32
"""Attempts in one call, so that decisions are carried out while a long queue is processed.

Equal pods are one attempt together, and take no longer than a small group does.
"""


class DecisionLoop:
    def __init__(
        self,
        knowledge: Knowledge,
        failed_writes: FailedWrites,
        pods: PodTrials,
        groups: GroupTrials,
        advisory: Advisory,
    ) -> None:
        self._knowledge = knowledge
        self._failed_writes = failed_writes
        self._advisory = advisory
        self._settling = GroupSettling(knowledge, groups.questions, advisory)
        self._group_turns = GroupTurns(knowledge, groups, self._settling, advisory)
        self._pod_turns = PodTurns(knowledge, pods)
        self._volume_waits = VolumeWaits(knowledge, failed_writes)
        self._claim_writes = ClaimsOfBindings(knowledge, failed_writes)
        self._claim_waits = ClaimWaits(knowledge, failed_writes)
        self._claim_releases = ClaimReleases(knowledge)
        self._countdown: DelayTimers[GroupKey] = DelayTimers(COUNTDOWN_SECONDS)
        """Groups with fewer victims left than reported."""
        self._waking = Waking(knowledge, groups)
        self._set_aside_limit = SetAsideLimit(knowledge)
        self._renewal = Renewal(knowledge, pods, groups, advisory.renew)
        self._attempts: list[AttemptRecord] = []

    def decide(self, now: float) -> list[Decision]:
        """Work through the queue, up to a bound."""
        cycle, knowledge = Cycle(now), self._knowledge
        self._attempts, decisions = cycle.attempts, cycle.decisions
        # 1. Take over the victims of an earlier scheduler whose preemptors still wait.
        if knowledge.unclaimed_victims:
            claim_victims(knowledge)
            knowledge.unclaimed_victims.clear()
        if knowledge.made_room_for:
            give_precedence(knowledge, now)
        # 2. Learn run times; start the waiting time of new pods; end the time in which groups gather theirs.
        knowledge.run_times.now = now
        if knowledge.run_times.ended:
            knowledge.run_times.learn(now)
        if knowledge.run_times.jobs.changed:
            rank_again(knowledge, now)
        self._stamp_newly_queued(now)
        self._end_gatherings(now)
        # 3. Bind the pods whose claims are bound by now, and give up on those whose claims will not be.
        has_claims = bool(knowledge.state.storage.book.claims or self._volume_waits.waits)
        settled = self._volume_waits.settle(now) if has_claims else []
        # 4. Report unreadable pods, advice that has arrived, and marks that may be lost.
        decisions += self._take_unreadable_pods() if knowledge.unreadable_pods else ()
        decisions += self._advisory.mark_fresh() if self._advisory.book.asks else ()
        decisions += self._lost_marks()
        if knowledge.state.devices.book.classes:
            self._read_faulty_again()
        # 5. Decide for every group that changed, or may be preempted from now on, whether it may be tried.
        knowledge.run_protection.now = now
        for key in knowledge.run_protection.take_due() if knowledge.run_protection.runs else ():
            knowledge.unsettle(key)
        self._settling.settle_changed(cycle)
        # 6. Put off what a failed write sent back.
        self._back_off_after_failed_writes(now)
        # 7. Review the capacity that is reserved for a group that has waited long, or for pods to come.
        knowledge.published.take_over(now)
        knowledge.starvation_guard.settle(now)
        if knowledge.state.minimum_reservations.groups or self._set_aside_limit.until:
            self._set_aside_limit.review(now)
        # 8. Wake what a change of the cluster or the passing of time may help, or whose refusal is outdated.
        with knowledge.starvation_guard.lifted_for_short():
            self._waking.wake_improved(now)
        knowledge.backlog.promote(now)
        self._renewal.renew(now)
        # 9. Try the entries of the queue, in order.
        if knowledge.run_protection.runs:
            knowledge.awaited_protection.allow(STEPS_OF_A_CYCLE)
        self._take_turns(cycle)
        # 10. Report victims left and reserved capacity, and ask what would help a refused group.
        self._count_down(cycle)
        decisions += self._advisory.ask(now) if self._advisory.book.asks else ()
        decisions += knowledge.published.news(now)
        # 11. Mark the groups that are evicted as a whole.
        evictions = [decision for decision in decisions if isinstance(decision, Evict)]
        decisions += mark_disrupted(knowledge.pods, knowledge.groups, evictions) if evictions else ()
        # 12. Hold back the bindings of pods whose claims have to be bound first.
        decided = settled + self._volume_waits.hold_back(decisions, now) if has_claims else decisions
        # 13. Add the claims that are written before the bindings, and hold back bindings for their devices.
        return self._with_claims(decided, cycle) if knowledge.state.devices.book.classes else decided

    def _with_claims(self, decisions: Sequence[Decision], cycle: Cycle) -> list[Decision]:
        ready = self._claim_waits.settle(cycle.now)
        written = self._claim_writes.add(decisions)
        held = self._claim_waits.hold_back(written, cycle.now)
        self._claim_writes.begin(held)
        return [*ready, *held, *self._claim_releases.of(cycle.attempts)]

    def attempts(self) -> tuple[AttemptRecord, ...]:
        """Return the attempts of the last call of `decide`."""
        return tuple(self._attempts)

    def next_wakeup(self) -> float | None:
        """Return when `decide` has something to do even if no event arrives."""
        knowledge = self._knowledge
        queues = (knowledge.backlog, knowledge.starvation_guard, knowledge.gatherings)
        sources = (
            *queues,
            self._volume_waits,
            self._claim_waits,
            self._countdown,
            self._advisory,
            self._renewal,
            self._settling,
            self._set_aside_limit,
            knowledge.run_protection,
            knowledge.published,
        )
        times = [source.next_wakeup() for source in sources]
        return min((time for time in times if time is not None), default=None)

    def _stamp_newly_queued(self, now: float) -> None:
        for record in self._knowledge.newly_queued:
            record.queued_at = now
        self._knowledge.newly_queued = []

    def _end_gatherings(self, now: float) -> None:
        gatherings = self._knowledge.gatherings
        for key in gatherings.take_due(now) if gatherings.running else ():
            group = self._knowledge.groups.get(key)
            if group is not None:
                group.gathered = True
                self._knowledge.unsettle(key)

    def _read_faulty_again(self) -> None:
        """Pods whose selectors fail on devices that have come are errors from now on."""
        knowledge = self._knowledge
        if not knowledge.state.devices.has_unchecked:
            return
        waiting = [one for one in knowledge.pods.values() if not one.node and one.pod_class.devices]
        wanted = dict.fromkeys(needs for one in waiting if (needs := one.pod_class.devices))
        faulty = dict.fromkeys(knowledge.state.devices.take_faulty(wanted))
        for record in waiting if faulty else ():
            if record.pod_class.devices in faulty:
                reclassify(knowledge, record)
                requeue(knowledge, record)

    def _take_unreadable_pods(self) -> list[ReportPod]:
        pods = self._knowledge.unreadable_pods
        self._knowledge.unreadable_pods = dict.fromkeys(pods)
        return [report for report in pods.values() if report is not None]

    def _lost_marks(self) -> list[Decision]:
        failed = self._failed_writes
        return still_valid(self._knowledge.groups, failed.take_lost_marks()) if failed.lost_marks else []

    def _back_off_after_failed_writes(self, now: float) -> None:
        """Members of a group back off together, as one entry."""
        failed = self._failed_writes
        for key in failed.take_refused() if failed.refused else ():
            if key in self._knowledge.backlog:
                self._knowledge.backlog.back_off_after_error(key, now)

    def _take_turns(self, cycle: Cycle) -> None:
        pods = attempts = 0
        backlog = self._knowledge.backlog
        while pods < MAX_PODS and attempts < _MAX_ATTEMPTS and (head := backlog.peek()) is not None:
            if isinstance(head.key, GroupKey):
                self._knowledge.at_work = head.key
                pods += self._group_turns.take(head, head.key, cycle)
                attempts += 1
            else:
                self._knowledge.at_work = self._knowledge.pods[head.key].ref
                tried = self._pod_turns.take(head, MAX_PODS - pods, _MAX_ATTEMPTS - attempts, cycle)
                pods, attempts = pods + tried[0], attempts + tried[1]

    def _count_down(self, cycle: Cycle) -> None:
        ledger = self._knowledge.ledger
        for key in ledger.take_shrunk() if ledger.shrunk else ():
            self._countdown.start(key, cycle.now)
        for key in self._countdown.take_due(cycle.now) if self._countdown.running else ():
            group, preemption = root_of(self._knowledge.groups, key), ledger.get(key)
            if group is not None and preemption is not None and preemption.left:
                cycle.decisions.extend(mark_countdown(group, preemption))
