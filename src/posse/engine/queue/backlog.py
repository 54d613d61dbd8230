"""Who waits, in which order, and what wakes them. Pods and groups wait side by side.

An entry is active (its turn comes by priority, then age), backing off (until a time, or until nothing else is
left to do), penalised (until a time), or parked (until a node improves for one of its subjects, it changes
itself, or five minutes pass). Age is that of the entry's first pod and survives every attempt, so nobody loses its place by trying.
"""

import heapq
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile

from posse.engine.keys import GroupKey
from posse.engine.rules.context import SchedulingClass

BACKOFF_FIRST_SECONDS = 1.0
BACKOFF_MOST_SECONDS = 10.0
PARKED_MOST_SECONDS = 300.0
RENEWAL_SECONDS = 30.0
"""How long somebody may have been told what has changed since."""

Key = str | GroupKey
"""A pod's uid, or a group."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait after a failed attempt; twice as long after each, up to a limit."""

    first_seconds: float = BACKOFF_FIRST_SECONDS
    most_seconds: float = BACKOFF_MOST_SECONDS


USUAL_BACKOFF = Backoff()


class QueueState(Enum):
    ACTIVE = "active"
    BACKING_OFF = "backing off"
    PENALISED = "penalised"
    PARKED = "parked"
    TAKEN = "taken"


@dataclass(slots=True, eq=False)
class Waiting:
    key: Key
    priority: int
    since: str
    """Creation time of its oldest pod, as text that sorts by time."""
    arrival: int
    size: int = 1
    """Pods it stands for; larger groups may back off longer."""
    attempts: int = 0
    ready_at: float = 0.0
    parked_at: float = 0.0
    refused_since: float = math.inf
    """When it was first found not to fit; it does not matter how often since."""
    place: QueueState = QueueState.TAKEN
    ticket: int = 0
    """Tells the entry's present heap item from stale ones."""
    scheduling_classes: tuple[SchedulingClass, ...] = ()
    """While parked: the subjects that found no place."""

    def order(self) -> tuple[int, str, int]:
        return (-self.priority, self.since, self.arrival)


class _Heap:
    """A priority queue whose stale items are skipped: an item counts only while its entry is still in `place`."""

    def __init__(self, place: QueueState) -> None:
        self._place = place
        self._items: list[tuple[tuple[float | str, ...], int, Waiting]] = []
        self._pushed = 0

    def push(self, sort_key: tuple[float | str, ...], waiting: Waiting) -> None:
        self._pushed += 1
        waiting.place, waiting.ticket = self._place, self._pushed
        heapq.heappush(self._items, (sort_key, self._pushed, waiting))

    def head(self) -> Waiting | None:
        while self._items:
            _, ticket, waiting = self._items[0]
            if waiting.place is self._place and waiting.ticket == ticket:
                return waiting
            heapq.heappop(self._items)
        return None


class Backlog:
    def __init__(self, backoff: Backoff = USUAL_BACKOFF) -> None:
        self._backoff = backoff
        self._entries: dict[Key, Waiting] = {}
        self._active = _Heap(QueueState.ACTIVE)
        self._backing_off = _Heap(QueueState.BACKING_OFF)
        self._penalised = _Heap(QueueState.PENALISED)
        self._parked: dict[Key, Waiting] = {}
        """Longest parked first."""
        self._outdated: dict[Key, float] = {}
        """Parked entries whose lot has changed, though not enough, and when they are tried for what they are told; the first first."""
        self._suspended: dict[Key, tuple[int, float]] = {}
        """Attempts and `refused_since` of groups that cannot be tried for want of members."""
        self._refused_groups: dict[Key, Waiting] = {}
        """Groups that were tried and found not to fit."""
        self._parked_by_class: dict[SchedulingClass, dict[Key, Waiting]] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def get(self, key: Key) -> Waiting | None:
        return self._entries.get(key)

    def counts(self) -> dict[QueueState, int]:
        counts = dict.fromkeys(QueueState, 0)
        for waiting in self._entries.values():
            counts[waiting.place] += 1
        return counts

    def add(self, waiting: Waiting) -> None:
        waiting.attempts, waiting.refused_since = self._suspended.pop(
            waiting.key, (waiting.attempts, waiting.refused_since)
        )
        self._entries[waiting.key] = waiting
        self._active.push(waiting.order(), waiting)

    def suspend(self, key: Key) -> None:
        """Remove the entry, but keep its attempts and waiting time for when it is added again."""
        waiting = self._entries.get(key)
        if waiting is not None:
            self._suspended[key] = (waiting.attempts, waiting.refused_since)
        self.remove(key)

    def forget(self, key: Key) -> None:
        """Remove the entry, and what is kept of it if it is suspended."""
        self._suspended.pop(key, None)
        self.remove(key)

    def remove(self, key: Key) -> None:
        waiting = self._entries.pop(key, None)
        self._refused_groups.pop(key, None)
        if waiting is not None:
            self._take_out(waiting)

    def peek(self) -> Waiting | None:
        """Whose turn it is. With nobody active, those that back off need not wait any longer."""
        return self._active.head() or self._backing_off.head()

    def take(self, waiting: Waiting) -> None:
        """The caller tries it now, and then removes or parks it."""
        waiting.place = QueueState.TAKEN

    def park(self, waiting: Waiting, scheduling_classes: Iterable[SchedulingClass], now: float) -> None:
        """Only an improvement for one of `subjects` helps, or a change of the entry itself."""
        self._count_attempt(waiting, now)
        if isinstance(waiting.key, GroupKey):
            waiting.refused_since = min(waiting.refused_since, now)
            self._refused_groups[waiting.key] = waiting
        waiting.place = QueueState.PARKED
        waiting.parked_at = now
        waiting.scheduling_classes = tuple(dict.fromkeys(scheduling_classes))
        self._parked[waiting.key] = waiting
        for scheduling_class in waiting.scheduling_classes:
            self._parked_by_class.setdefault(scheduling_class, {})[waiting.key] = waiting

    def update(self, key: Key, priority: int, size: int) -> None:
        """Its place in the queue follows its priority, also while it waits for its turn."""
        waiting = self._entries[key]
        waiting.size = size
        if waiting.priority != priority:
            waiting.priority = priority
            if waiting.place is QueueState.ACTIVE:
                self._active.push(waiting.order(), waiting)

    def put_aside(self, key: Key, now: float) -> None:
        """Its turn does not come before it changes itself; that is no attempt."""
        waiting = self._entries[key]
        self._take_out(waiting)
        waiting.place, waiting.parked_at, waiting.scheduling_classes = QueueState.PARKED, now, ()
        self._parked[key] = waiting

    def penalise(self, key: Key, now: float) -> None:
        """It failed for a reason outside; it is tried again when its backoff is over, and not before."""
        waiting = self._entries[key]
        self._take_out(waiting)
        self._count_attempt(waiting, now)
        self._penalised.push((waiting.ready_at, *waiting.order()), waiting)

    def wake(self, key: Key) -> None:
        """The entry itself changed: its turn comes at once, whatever it waited for."""
        waiting = self._entries.get(key)
        if waiting is not None and waiting.place is not QueueState.ACTIVE:
            self._take_out(waiting)
            self._active.push(waiting.order(), waiting)

    def resume(self, key: Key, now: float) -> None:
        """The entry grew or shrank: its turn comes when its backoff is over, without waiting for an improvement."""
        waiting = self._entries.get(key)
        if waiting is not None and waiting.place is QueueState.PARKED:
            self._resume(waiting, now)

    def renew(self, key: Key, now: float) -> None:
        """Something changed that does not help enough: after a while it is tried to be told how it stands."""
        self._outdated.setdefault(key, now + RENEWAL_SECONDS)

    def resume_at(self, key: Key, time: float) -> None:
        """The same, but its turn does not come before that time."""
        waiting = self._entries.get(key)
        if waiting is not None and waiting.place is QueueState.PARKED:
            self._take_out(waiting)
            waiting.ready_at = max(waiting.ready_at, time)
            self._penalised.push((waiting.ready_at, *waiting.order()), waiting)

    def refused_groups(self) -> Collection[Waiting]:
        return self._refused_groups.values()

    def parked_subjects(self) -> list[SchedulingClass]:
        return list(self._parked_by_class)

    @property
    def has_parked_classes(self) -> bool:
        return bool(self._parked_by_class)

    def parked_for(self, scheduling_class: SchedulingClass) -> list[Key]:
        """Who is parked because pods like these found no place."""
        return list(self._parked_by_class.get(scheduling_class, {}))

    def promote(self, now: float) -> None:
        """Let those go on whose backoff is over or who have been parked for too long."""
        for heap in (self._backing_off, self._penalised):
            while (waiting := heap.head()) is not None and waiting.ready_at <= now:
                self._active.push(waiting.order(), waiting)
        for key in list(takewhile(lambda key: self._outdated[key] <= now, self._outdated)):
            self.resume(key, now)
        while self._parked:
            longest = next(iter(self._parked.values()))
            if longest.parked_at + PARKED_MOST_SECONDS > now:
                break
            self._resume(longest, now)

    def next_wakeup(self) -> float | None:
        """When `promote` next has something to do."""
        heads = (self._backing_off.head(), self._penalised.head())
        times = [head.ready_at for head in heads if head is not None]
        times += list(self._outdated.values())[:1]
        if self._parked:
            times.append(next(iter(self._parked.values())).parked_at + PARKED_MOST_SECONDS)
        return min(times, default=None)

    def _resume(self, waiting: Waiting, now: float) -> None:
        self._take_out(waiting)
        if waiting.ready_at <= now:
            self._active.push(waiting.order(), waiting)
        else:
            self._backing_off.push((waiting.ready_at, *waiting.order()), waiting)

    def _take_out(self, waiting: Waiting) -> None:
        if waiting.place is QueueState.PARKED:
            del self._parked[waiting.key]
            self._outdated.pop(waiting.key, None)
            for scheduling_class in waiting.scheduling_classes:
                together = self._parked_by_class[scheduling_class]
                del together[waiting.key]
                if not together:
                    del self._parked_by_class[scheduling_class]
        waiting.place = QueueState.TAKEN

    def _count_attempt(self, waiting: Waiting, now: float) -> None:
        waiting.attempts += 1
        most = self._backoff.most_seconds * math.sqrt(waiting.size)
        # The exponent is bounded so that the power stays small; long before, any cap is reached.
        waiting.ready_at = now + min(self._backoff.first_seconds * 2 ** min(waiting.attempts - 1, 40), most)
