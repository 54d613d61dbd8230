"""One attempt for pods that stand for themselves: place what fits, and make room for the rest where that is allowed.

Room that is being made for somebody is held against pods that matter no more. A pod whose room is ready takes it
without looking further; a pod whose victims are still ending waits for them and takes no others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.cycle import Attempt, try_pods
from posse.engine.draft import Draft
from posse.engine.groups import GroupBook
from posse.engine.nominations import Nominations
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.candidates import Preemptor, Search
from posse.engine.preemption.preempt import Outcome, preempt
from posse.engine.scene import Subject
from posse.engine.search.fill import fill
from posse.engine.verdict import SUCCESS, Code, Verdict
from posse.engine.view import REFUSED

NEVER = "preemption: not eligible due to preemptionPolicy=Never."
UNDER_WAY = "preemption: not eligible due to a terminating pod on the nominated node."


@dataclass(frozen=True, slots=True)
class Eviction:
    victim: PodRecord
    preemptor: PodRecord
    node: str
    is_first: bool
    """Somebody who is ending is not evicted again, but more than one may wait for it."""


@dataclass(frozen=True, slots=True)
class Trial:
    attempt: Attempt
    evictions: tuple[Eviction, ...] = ()


@dataclass(frozen=True, slots=True)
class PodProbe:
    """What a trial of one pod would give if it were made now."""

    node: str
    """Where it would go; empty if nowhere."""
    outcome: Outcome | None = None
    """Of the search for victims, where one is made."""


@dataclass(frozen=True, slots=True)
class PodTrials:
    state: ClusterState
    groups: GroupBook
    budgets: BudgetBook
    nominations: Nominations

    def run(self, subject: Subject, records: Sequence[PodRecord]) -> Trial:
        """Try pods that are alike and of one priority, in their order."""
        with self.nominations.held(records[0].priority, [record.ref.uid for record in records]):
            attempt = self._take_nominated(subject, records) or try_pods(self.state, subject, records)
        for record in attempt.placed:
            self.nominations.drop(record)
        return self._make_room(subject, attempt)

    def probe(self, record: PodRecord) -> PodProbe:
        """Try one pod and take everything back: the state is as it was, to the last bit."""
        subject = self.state.subject(record)
        with self.nominations.held(record.priority, [record.ref.uid]):
            row = self._nominated_row(subject, record)
            node = self._first_choice(subject, record) if row is None else record.nominated
            verdict = self.state.view(subject).refuse()
        if node or not self.state.profile(subject.pod_class).preempts or not len(self.state.nodes):
            return PodProbe(node)
        return PodProbe(node, self._preempt(subject, record, verdict))

    def _first_choice(self, subject: Subject, record: PodRecord) -> str:
        draft = Draft(self.state)
        fill(self.state, draft, subject, [record])
        node = record.node
        draft.roll_back()
        return node

    def _take_nominated(self, subject: Subject, records: Sequence[PodRecord]) -> Attempt | None:
        row = self._nominated_row(subject, records[0])
        if len(records) > 1 or row is None:
            return None
        draft = Draft(self.state)
        draft.place(records, np.array([row]))
        return Attempt(SUCCESS, draft.commit())

    def _nominated_row(self, subject: Subject, record: PodRecord) -> int | None:
        """Of the node where room was made for the pod, if the room is there."""
        row = self.state.nodes.row_of.get(record.nominated)
        return None if row is None or self.state.view(subject).totals()[row] == REFUSED else row

    def _make_room(self, subject: Subject, attempt: Attempt) -> Trial:
        if not self.state.profile(subject.pod_class).preempts:
            return Trial(attempt)
        if not len(self.state.nodes):
            for record, _ in attempt.refused:
                self.nominations.drop(record)
            return Trial(attempt)
        refused: list[tuple[PodRecord, Verdict]] = []
        evictions: list[Eviction] = []
        fruitless: Outcome | None = None
        for record, verdict in attempt.refused:
            outcome = fruitless or self._preempt(subject, record, verdict)
            if outcome.chosen is not None:
                node = outcome.chosen.node
                self.nominations.put(record, node)
                evictions += [
                    _evict(victim, record, node) for unit in outcome.chosen.victims for victim in unit.records
                ]
            elif outcome.message != UNDER_WAY:
                self.nominations.drop(record)
                fruitless = outcome
            refused.append(
                (record, Verdict(verdict.code, f"{verdict.message} {outcome.message}", verdict.refusals))
            )
        return Trial(Attempt(attempt.verdict, attempt.placed, tuple(refused)), tuple(evictions))

    def _preempt(self, subject: Subject, record: PodRecord, verdict: Verdict) -> Outcome:
        if record.pod.spec.preemption_policy == "Never":
            return Outcome(NEVER)
        if self._is_under_way(subject, record):
            return Outcome(UNDER_WAY)
        if verdict.code is not Code.UNSCHEDULABLE:
            count = len(self.state.nodes)
            useless = f"{count} Preemption is not helpful for scheduling"
            return Outcome(f"preemption: 0/{count} nodes are available: {useless}.")
        search = Search(self.state, self.groups, self.budgets, Preemptor(record, subject, record.priority))
        with self.nominations.held(record.priority, [record.ref.uid]):
            return preempt(search)

    def _is_under_way(self, subject: Subject, record: PodRecord) -> bool:
        """Whether somebody on the pod's nominated node is ending to make room, and the pod could still go there."""
        row = self.state.nodes.row_of.get(record.nominated)
        if row is None or not self.state.view(subject).resolvable()[row]:
            return False
        there = self.state.pods_on(record.nominated)
        return any(other.evicted_for and other.standing < record.priority for other in there)


def _evict(victim: PodRecord, preemptor: PodRecord, node: str) -> Eviction:
    """From now on the victim counts as leaving: others may come to stand where it did without evicting anybody."""
    eviction = Eviction(victim, preemptor, node, is_first=not victim.is_ending)
    victim.evicted_for = victim.evicted_for or preemptor.ref.uid
    return eviction
