"""Expected run times of pods and groups: limited, stated, learned from earlier runs, or unknown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from posse.engine.events import KnownRuns
from posse.engine.groups.annotations import EXPECTED_DURATION, MAX_STATED_SECONDS, stated_seconds
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Root
from posse.engine.keys import GroupKey
from posse.engine.queue.batches import Batches
from posse.engine.queue.job_book import JobBook
from posse.engine.queue.run_history import OVERRUN, Precedents, RunHistory, RunKind
from posse.engine.queue.run_time_spread import RunTimeSpread
from posse.engine.state.pod_record import PodRecord
from posse.model.timestamps import TimestampError, parse_timestamp


class RunTimeSource(StrEnum):
    LIMIT = "limit"
    STATED = "stated"
    LEARNED = "learned"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ExpectedRunTime:
    """In seconds from the start; infinite where it is unknown."""

    usual: float = math.inf
    safe: float = math.inf
    """Runs seldom take longer, or never if there is a limit."""
    limit: float = math.inf
    """It is ended then at the latest."""
    source: RunTimeSource = RunTimeSource.UNKNOWN
    basis: str = ""
    """The runs that it was learned from."""
    deadline: float = math.inf
    """When its Job is ended, whether it has started by then or not; a time, not seconds from the start."""


UNKNOWN_RUN_TIME = ExpectedRunTime()


class RunTimes:
    def __init__(self, groups: GroupBook) -> None:
        self._groups = groups
        self._history = RunHistory()
        self._batches = Batches()
        self.jobs = JobBook()
        self.now = 0.0
        """When anything was last decided."""
        self.ended: list[PodRecord] = []
        """Pods that have left their nodes by themselves since the last decision."""

    def note_ended(self, record: PodRecord) -> None:
        """The pod has left its node. What was evicted or deleted says nothing about how long runs take."""
        if not record.evicted_for and not record.pod.metadata.deletion_timestamp:
            self.ended.append(record)

    def note_started(self, records: Sequence[PodRecord]) -> None:
        """Note what runs now; a group counts once."""
        first = {record.group or record.ref.uid: record for record in reversed(records)}
        for record in first.values():
            group = self._groups.get(record.group) if record.group is not None else None
            kind = self._kind([record], group.minimum if group is not None else 1)
            if kind.is_batched:
                self._batches.started(kind, self._created(record), record)

    def learn(self, now: float) -> None:
        """Learn from what has ended since the last call. A group counts once, when its last pod has ended."""
        ended, self.ended = self.ended, []
        groups: dict[GroupKey, list[PodRecord]] = {}
        for record in ended:
            if record.group is not None:
                groups.setdefault(record.group, []).append(record)
            else:
                self._learn([record], 1, now)
        for key, records in groups.items():
            group = self._groups.get(key)
            if group is None or not group.attached_count:
                self._learn(records, group.minimum if group is not None else len(records), now)

    def _learn(self, records: Sequence[PodRecord], pods: int, now: float) -> None:
        started = started_at(records[0])
        if math.isfinite(started) and 0 <= now - started <= MAX_STATED_SECONDS:
            kind = self._kind(records, pods)
            self._history.learn(kind, now - started)
            if kind.is_batched:
                self._batches.ended(kind, self._created(records[0]), now - started)

    def known(self) -> tuple[KnownRuns, ...]:
        """All that is known of earlier runs, and of jobs that were created together."""
        return (*self._history.known(), *self._batches.known())

    def remember(self, runs: Sequence[KnownRuns]) -> None:
        """Know what an earlier scheduler knew. What makes no sense is left out."""
        for one in runs:
            if (
                one.pods >= 0
                and one.limit >= 0
                and all(0 <= seconds <= MAX_STATED_SECONDS for seconds in one.seconds)
            ):
                if one.created:
                    self._batches.remember(one)
                else:
                    self._history.remember(one)

    def of_group(self, group: GroupRecord, age: float = 0.0) -> ExpectedRunTime:
        return self._expected(list(group.members.values()), group.expected_seconds, group.minimum, age)

    def of_root(self, root: Root) -> ExpectedRunTime:
        """Of the pod group in it that is expected to run longest."""
        return max(map(self.of_group, root.leaves), key=lambda one: one.usual, default=UNKNOWN_RUN_TIME)

    def of_pod(self, record: PodRecord, age: float = 0.0) -> ExpectedRunTime:
        return self._expected([record], _stated_on(record), 1, age)

    def of_record(self, record: PodRecord, age: float) -> ExpectedRunTime:
        """Of the group of a pod, or of the pod itself."""
        group = self._groups.get(record.group) if record.group is not None else None
        return self.of_group(group, age) if group is not None else self.of_pod(record, age)

    def spread_of_record(self, record: PodRecord, age: float) -> RunTimeSpread:
        """How long the group of a pod, or the pod itself, may run in all."""
        group = self._groups.get(record.group) if record.group is not None else None
        if group is None:
            return self._spread([record], _stated_on(record), 1, age)
        return self.spread_of_group(group, age)

    def spread_of_group(self, group: GroupRecord, age: float = 0.0) -> RunTimeSpread:
        return self._spread(list(group.members.values()), group.expected_seconds, group.minimum, age)

    def _spread(
        self, records: Sequence[PodRecord], stated: float | None, pods: int, age: float
    ) -> RunTimeSpread:
        limit = self.jobs.limit(records, self.now - age)
        seconds = self._stated(records, stated)
        if seconds is not None:
            return RunTimeSpread((seconds,), limit)
        found = self._precedents(records[0], self._kind(records, pods), age) if records else None
        if found is None:
            return RunTimeSpread(limit=limit)
        least = found.least if found.least > age else 0.0
        return RunTimeSpread(tuple(found.runs.ordered), limit, least)

    def _expected(
        self, records: Sequence[PodRecord], stated: float | None, pods: int, age: float
    ) -> ExpectedRunTime:
        limit = self.jobs.limit(records, self.now - age)
        deadline = self.jobs.deadline(records)
        seconds = self._stated(records, stated)
        if seconds is not None:
            usual = _at_least(min(seconds, limit), age, limit)
            return ExpectedRunTime(usual, usual, limit, RunTimeSource.STATED, deadline=deadline)
        found = self._precedents(records[0], self._kind(records, pods), age) if records else None
        learned = found.learned(age) if found is not None else None
        basis = f"{learned.runs} runs of {learned.of}" if learned is not None else ""
        if limit < math.inf:
            # Runs of the same limit say how long it will take, if there are any; only the limit is safe.
            usual = min(learned.usual, limit) if learned is not None else limit
            return ExpectedRunTime(usual, limit, limit, RunTimeSource.LIMIT, basis, deadline)
        if learned is None:
            return UNKNOWN_RUN_TIME
        return ExpectedRunTime(learned.usual, learned.safe, source=RunTimeSource.LEARNED, basis=basis)

    def _precedents(self, record: PodRecord, kind: RunKind, age: float) -> Precedents | None:
        """Jobs that were created together tell more than earlier ones, but for limits and CronJobs."""
        if not kind.is_batched:
            return self._history.precedents(kind, age)
        created = self._created(record)
        least = self._batches.least(kind, created, self.now)
        return self._batches.precedents(kind, created, age) or self._history.precedents(kind, age, least)

    def _kind(self, records: Sequence[PodRecord], pods: int) -> RunKind:
        limit, first = self.jobs.nominal_limit(records), records[0]
        owner = self.jobs.of(first).owner
        seconds = int(limit) if limit < math.inf else 0
        return RunKind(first.ref.namespace, first.pod_class, pods, seconds, owner)

    def _stated(self, records: Sequence[PodRecord], stated: float | None) -> float | None:
        """What the group or its first pod states, or else the Job of that pod."""
        return self.jobs.of(records[0]).stated if stated is None and records else stated

    def _created(self, record: PodRecord) -> str:
        """When the job of the pod was created. Pods of one group may be created in different hours."""
        group = self._groups.get(record.group) if record.group is not None else None
        stated = group.obj.metadata.creation_timestamp if group is not None and group.obj is not None else ""
        return stated or record.created


def started_at(record: PodRecord) -> float:
    """When the pod was placed, or started as its status says; infinite if neither is known."""
    if record.placed_at:
        return record.placed_at
    try:
        return parse_timestamp(record.pod.status.start_time) if record.pod.status.start_time else math.inf
    except TimestampError:
        return math.inf


def _at_least(seconds: float, age: float, limit: float) -> float:
    """A run that goes on beyond its expectation is expected to go on for as long again."""
    return seconds if seconds > age else min(OVERRUN * age, max(limit, age))


def _stated_on(record: PodRecord) -> float | None:
    return stated_seconds(EXPECTED_DURATION, record.pod.metadata.annotations.get(EXPECTED_DURATION))[0]
