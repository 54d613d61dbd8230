"""Dated reservations: for which entries, by which policy, and from when on."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.tree import root_of
from posse.engine.keys import GroupKey
from posse.engine.nodes.arrays import IntArray
from posse.engine.queue.backlog import Backlog, Key, Waiting
from posse.engine.queue.capacity_reservation import CapacityReservation, ReservedShare, held_by, usage_of
from posse.engine.queue.entry_size import EntrySizes
from posse.engine.queue.expected_ends import ExpectedEnds, Placing, StartPlan
from posse.engine.queue.policies import (
    PRIORITY_FIFO,
    QueuePolicy,
    holds_widely,
    idle_seconds,
    may_reserve,
    overtaken_seconds,
    rank,
    reserves_for,
)
from posse.engine.queue.reservation_plan import planned, preempts, shares_of
from posse.engine.queue.run_times import UNKNOWN_RUN_TIME, ExpectedRunTime, RunTimes
from posse.engine.queue.wide_hold import held_widely
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord

_MAX_MISSES = 4
"""Entries without a plan, which never fit or for which nothing is known to end, that are passed over."""


class Lookahead:
    def __init__(
        self,
        state: ClusterState,
        groups: GroupBook,
        backlog: Backlog,
        run_times: RunTimes,
        policies: Mapping[str, QueuePolicy],
        pods: Mapping[str, PodRecord],
    ) -> None:
        self._state = state
        self._groups = groups
        self._backlog = backlog
        self._run_times = run_times
        self._policies = policies
        """By scheduler name."""
        self._pods = pods
        self._ends = ExpectedEnds(state, run_times)
        self._sizes = EntrySizes(state)
        self._undated: dict[Key, None] = {}
        """Entries of which nothing says when they fit."""
        self._is_outdated = True
        """The cluster has changed since ends were expected."""
        self.most = max(policy.reservations for policy in policies.values())
        """For how many entries capacity is reserved at once."""
        self.is_by_run_time = any(policy.is_by_run_time for policy in policies.values())
        """Whether expected run times decide the order of any entries."""

    def rank(self, entry: Waiting, now: float) -> None:
        """Give the entry its place in the queue, by what is known of its run time."""
        run_time = self._run_time(entry)
        entry.safe_seconds = run_time.safe
        entry.nodes, entry.share = self._sizes.of(self._waiting_pods(entry))
        entry.rank = rank(self._policy(entry), entry, run_time, now)

    def reserves_for(self, entry: Waiting) -> bool:
        """Whether capacity is reserved for the entry when it has been refused for a while."""
        return reserves_for(self._policy(entry), entry)

    def ages_in(self, entry: Waiting, now: float) -> float:
        """After which time it comes before all others, if it is refused until then; infinite if never."""
        if not self._policy(entry).is_by_run_time:
            return math.inf
        return overtaken_seconds(entry) - max(0.0, now - entry.refused_since)

    def idle_share(self, entry: Waiting) -> float:
        """What may stand idle for it before it has aged: as much as it needs, for this share of its wait."""
        return entry.share if self._policy(entry).is_by_run_time else math.inf

    def is_undated(self, entry: Waiting) -> bool:
        """Whether its policy plans no starts, or nothing was known of this one when it was last planned.

        A small group is not planned at all. Nothing is known if not even its own run time is.
        """
        policy = self._policy(entry)
        if not policy.looks_ahead or entry.key in self._undated:
            return True
        return entry.size > 1 and entry.safe_seconds == math.inf and not reserves_for(policy, entry)

    def forget_ends(self, records: Sequence[PodRecord]) -> None:
        """Limits or requests of these running pods have changed, so their ends are expected again."""
        keys = {record.group or record.ref.uid: None for record in records}
        groups = (self._groups.get(key) for key in keys if isinstance(key, GroupKey))
        together = (member.node for group in groups if group is not None for member in group.members.values())
        self._ends.forget(keys, dict.fromkeys([*(record.node for record in records), *together]))

    def outdate(self) -> None:
        """Expect ends again before the next reservation. That reads every pod on a node."""
        self._is_outdated = True
        self._undated = {key: None for key in self._undated if key in self._backlog}

    def eligible(self) -> list[Waiting]:
        """Refused entries for which is reserved, in the order of the queue; a few more than there may be."""
        refused = [one for one in self._backlog.refused() if may_reserve(self._policy(one), one)]
        return sorted(refused, key=Waiting.order)[: self.most + _MAX_MISSES]

    def reservation_for(
        self, entry: Waiting, others: Sequence[CapacityReservation], now: float
    ) -> CapacityReservation | None:
        """Its reservation beside the others; None if it gets none, or nothing is known of when it fits."""
        policy = self._policy(entry)
        dated = [one for one in others if one.is_dated]
        if len(dated) >= policy.reservations or not may_reserve(policy, entry):
            return None
        place = self._placing(entry)
        if place is None:
            return None
        if self._is_outdated:
            self._ends.renew(now)
            self._is_outdated = False
        found = self._ends.plan(self._still_to_come(dated), place, now)
        held = held_by(dated, self._state.nodes.requested.shape)
        if found is None and not self._ends.suffice(-held, place):
            self._undated[entry.key] = None
            return None
        self._undated.pop(entry.key, None)
        if found is None:
            return None
        if self._idle_part(found) * (found.begins - now) > idle_seconds(policy, entry, now):
            return None
        shares = self._held_widely(entry, found) if holds_widely(policy, entry) else found.held
        return CapacityReservation(entry.key, entry.priority, math.inf, shares, found.begins, found.planned)

    def _held_widely(self, entry: Waiting, plan: StartPlan) -> tuple[ReservedShare, ...]:
        """A gang that starts in one domain, or a tree, is held what it is planned to use."""
        root = root_of(self._groups, entry.key) if isinstance(entry.key, GroupKey) else None
        part = root.top if root is not None else None
        if part is None or part.children or part.topology_key:
            return plan.held
        return held_widely(self._state, plan, part.own_unattached(), self._ends.is_uncertain)

    def _idle_part(self, plan: StartPlan) -> float:
        """Which part of what the entry needs is held until then, by the resource of which it takes most."""
        nodes = self._state.nodes
        planned, held = (
            usage_of(one, nodes.requested.shape).sum(axis=1) for one in (plan.planned, plan.held)
        )
        most = int(np.argmax(planned / np.maximum(nodes.allocatable.sum(axis=1), 1)))
        return float(held[most] / max(int(planned[most]), 1))

    def _still_to_come(self, others: Sequence[CapacityReservation]) -> IntArray:
        """What others wait for beside what is held for them already."""
        shape = self._state.nodes.requested.shape
        total = np.zeros(shape, dtype=np.int64)
        for one in others:
            total += np.maximum(usage_of(one.planned, shape) - usage_of(one.shares, shape), 0)
        return total

    def _placing(self, entry: Waiting) -> Placing | None:
        state = self._state
        if not isinstance(entry.key, GroupKey):
            record = self._pods[entry.key]
            scheduling_class = state.scheduling_class(record)
            return lambda free: shares_of(state, scheduling_class, [record], free, is_tight=True)
        root = root_of(self._groups, entry.key)
        part = root.top if root is not None else None
        if root is None or part is None or part.is_started or preempts(root):
            return None
        return lambda free: planned(state, part, None, free, is_tight=True)

    def _run_time(self, entry: Waiting) -> ExpectedRunTime:
        if not isinstance(entry.key, GroupKey):
            return self._run_times.of_pod(self._pods[entry.key])
        root = root_of(self._groups, entry.key)
        return self._run_times.of_root(root) if root is not None else UNKNOWN_RUN_TIME

    def _waiting_pods(self, entry: Waiting) -> Iterable[PodRecord]:
        if not isinstance(entry.key, GroupKey):
            return (self._pods[entry.key],)
        root = root_of(self._groups, entry.key)
        return root.unattached() if root is not None else ()

    def _policy(self, entry: Waiting) -> QueuePolicy:
        if not isinstance(entry.key, GroupKey):
            return self._policies[self._pods[entry.key].ref.scheduler_name]
        root = root_of(self._groups, entry.key)
        return self._policies.get(root.scheduler_name if root is not None else "", PRIORITY_FIFO)
