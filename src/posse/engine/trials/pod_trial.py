"""One attempt for pods without a group: place those that fit, and preempt for the others if allowed.

Capacity freed for a pod is reserved against pods of equal or lower priority. A pod whose capacity is free
takes it at once. A pod whose victims are still terminating waits for them and evicts no others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from posse.engine.groups.group_book import GroupBook
from posse.engine.placement.gang.attempt import Attempt, refused_pods, try_pods
from posse.engine.placement.search.fill import fill
from posse.engine.preemption.awaited_protection import Asker, AwaitedProtection
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.candidates import Candidate, Preemptor, Search
from posse.engine.preemption.pod_search import PodSearchResult, preempt
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.node_scores import REFUSED
from posse.engine.state.nominations import Nominations
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import (
    SUCCESS,
    Code,
    NoCandidateNode,
    NodeChosen,
    NominatedNodeBusy,
    PreemptionForbidden,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class VictimEviction:
    victim: PodRecord
    preemptor: PodRecord
    node: str
    is_first: bool
    """A terminating pod is not evicted again, but several preemptors may wait for it."""


class Trial(msgspec.Struct, frozen=True, gc=False):
    attempt: Attempt
    evictions: tuple[VictimEviction, ...] = ()
    overdrawn: Mapping[str, int] = msgspec.field(default_factory=dict)
    """By the uid of a preemptor, how many of its victims overdraw a disruption budget."""


@dataclass(frozen=True, slots=True)
class PodProbe:
    """The result of a trial of one pod if it were made now."""

    node: str
    """Target node; empty if there is none."""
    outcome: PodSearchResult | None = None
    """Result of the search for victims, if one was made."""


@dataclass(frozen=True, slots=True)
class PodTrials:
    state: ClusterState
    groups: GroupBook
    budgets: BudgetBook
    nominations: Nominations
    awaited: AwaitedProtection

    def run(self, scheduling_class: SchedulingClass, records: Sequence[PodRecord]) -> Trial:
        """Try identical pods of one priority, in their order."""
        with self.nominations.held(records[0].priority, [record.ref.uid for record in records]):
            attempt = self._take_nominated(scheduling_class, records) or try_pods(
                self.state, scheduling_class, records
            )
        for record in attempt.placed if len(self.nominations) else ():
            self.nominations.drop(record)
        return self._make_room(scheduling_class, attempt)

    def refuse(self, scheduling_class: SchedulingClass, records: Sequence[PodRecord]) -> Trial:
        """The same for pods that have just found no node, while none is nominated."""
        return self._make_room(scheduling_class, refused_pods(self.state, scheduling_class, records))

    def probe(self, record: PodRecord) -> PodProbe:
        """Try one pod and roll everything back."""
        scheduling_class = self.state.scheduling_class(record)
        with self.nominations.held(record.priority, [record.ref.uid]):
            row = self._nominated_row(scheduling_class, record)
            node = self._first_choice(scheduling_class, record) if row is None else record.nominated
            verdict = self.state.scores(scheduling_class).refuse()
        if node or not self.state.profile(scheduling_class.pod_class).preempts or not len(self.state.nodes):
            return PodProbe(node)
        return PodProbe(node, self._preempt(scheduling_class, record, verdict))

    def _first_choice(self, scheduling_class: SchedulingClass, record: PodRecord) -> str:
        draft = Draft(self.state)
        fill(self.state, draft, scheduling_class, [record])
        node = record.node
        draft.roll_back()
        return node

    def _take_nominated(
        self, scheduling_class: SchedulingClass, records: Sequence[PodRecord]
    ) -> Attempt | None:
        row = self._nominated_row(scheduling_class, records[0])
        if len(records) > 1 or row is None:
            return None
        draft = Draft(self.state)
        draft.place(records, np.array([row]))
        return Attempt(SUCCESS, draft.commit())

    def _nominated_row(self, scheduling_class: SchedulingClass, record: PodRecord) -> int | None:
        """Row of the pod's nominated node, if the pod fits there now."""
        row = self.state.nodes.row_of.get(record.nominated)
        return None if row is None or self.state.scores(scheduling_class).totals()[row] == REFUSED else row

    def _make_room(self, scheduling_class: SchedulingClass, attempt: Attempt) -> Trial:
        if not attempt.refused or not self.state.profile(scheduling_class.pod_class).preempts:
            return Trial(attempt)
        if not len(self.state.nodes):
            for record, _ in attempt.refused:
                self.nominations.drop(record)
            return Trial(attempt)
        refused: list[tuple[PodRecord, Verdict]] = []
        evictions: list[VictimEviction] = []
        overdrawn: dict[str, int] = {}
        fruitless: PodSearchResult | None = None
        for record, verdict in attempt.refused:
            outcome = fruitless or self._preempt(scheduling_class, record, verdict)
            if outcome.chosen is not None:
                node = outcome.chosen.node
                self.nominations.put(record, node)
                overdrawn[record.ref.uid] = outcome.chosen.violations
                evictions += [
                    _evict(victim, record, node) for unit in outcome.chosen.victims for victim in unit.records
                ]
            elif not isinstance(outcome.progress, NominatedNodeBusy):
                self.nominations.drop(record)
                fruitless = outcome
            refused.append((record, replace(verdict, preemption=outcome.progress)))
        return Trial(Attempt(attempt.verdict, attempt.placed, tuple(refused)), tuple(evictions), overdrawn)

    def _preempt(
        self, scheduling_class: SchedulingClass, record: PodRecord, verdict: Verdict
    ) -> PodSearchResult:
        if record.pod.spec.preemption_policy == "Never":
            return PodSearchResult(PreemptionForbidden())
        if self._is_under_way(scheduling_class, record):
            return PodSearchResult(NominatedNodeBusy())
        if verdict.code is not Code.UNSCHEDULABLE:
            return PodSearchResult(NoCandidateNode(len(self.state.nodes)))
        search = Search(
            self.state, self.groups, self.budgets, Preemptor(record, scheduling_class, record.priority)
        )
        with (
            self.nominations.held(record.priority, [record.ref.uid]),
            self.state.devices.held.clearing(),
        ):
            found = self._without_victims(scheduling_class, record) or preempt(search)
            return found if found.chosen is not None else self._protected(search, found)

    def _protected(self, search: Search, fruitless: PodSearchResult) -> PodSearchResult:
        """The same, with what could be preempted later."""
        progress, preemptor = fruitless.progress, search.preemptor
        if self.awaited.is_silent or not isinstance(progress, NoCandidateNode):
            return fruitless

        def find_victims() -> list[PodRecord] | None:
            chosen = preempt(search).chosen
            return [one for unit in chosen.victims for one in unit.records] if chosen is not None else None

        likeness = preemptor.scheduling_class if not preemptor.record.nominated else None
        held = self.awaited.of(Asker(preemptor.priority, 1, likeness, find_victims))
        return PodSearchResult(replace(progress, protected=held)) if held is not None else fruitless

    def _without_victims(
        self, scheduling_class: SchedulingClass, record: PodRecord
    ) -> PodSearchResult | None:
        """The node whose devices come free without an eviction: claims of pods that are gone end soon."""
        if scheduling_class.pod_class.devices is None or not self.state.devices.held.is_any_clearing:
            return None
        row = self._nominated_row(scheduling_class, record)
        node = record.nominated if row is not None else self._first_choice(scheduling_class, record)
        return PodSearchResult(NodeChosen(node, 0), Candidate(node, (), 0)) if node else None

    def _is_under_way(self, scheduling_class: SchedulingClass, record: PodRecord) -> bool:
        """Whether victims terminate on the pod's nominated node, and the pod could still go there."""
        row = self.state.nodes.row_of.get(record.nominated)
        if row is None or not self.state.capacity(scheduling_class).resolvable()[row]:
            return False
        there = self.state.pods_on(record.nominated)
        return any(other.evicted_for and other.effective_priority < record.priority for other in there)


def _evict(victim: PodRecord, preemptor: PodRecord, node: str) -> VictimEviction:
    """From now on the victim counts as terminating: other pods may wait for its capacity, too."""
    eviction = VictimEviction(victim, preemptor, node, is_first=not victim.is_ending)
    victim.evicted_for = victim.evicted_for or preemptor.ref.uid
    return eviction
