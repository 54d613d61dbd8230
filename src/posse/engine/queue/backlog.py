"""The scheduling queue. Pods and groups wait side by side.

An entry is active (tried by priority, then age), in backoff (until a time, or until the queue is empty
otherwise), in error backoff (until a time), or unschedulable (until a node improves for one of its scheduling
classes, the entry changes, or five minutes pass). Age is that of the entry's first pod, so that no entry
loses its place by an attempt.
"""

import heapq
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum

import msgspec

from posse.engine.keys import GroupKey
from posse.engine.rules.context import SchedulingClass

FIRST_BACKOFF_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 10.0
MAX_UNSCHEDULABLE_SECONDS = 300.0

Key = str | GroupKey
"""A pod's uid, or a group."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long an entry waits after a failed attempt; twice as long after each, up to a limit."""

    first_seconds: float = FIRST_BACKOFF_SECONDS
    most_seconds: float = MAX_BACKOFF_SECONDS


USUAL_BACKOFF = Backoff()


class QueueState(Enum):
    ACTIVE = "active"
    BACKOFF = "backoff"
    ERROR_BACKOFF = "error backoff"
    UNSCHEDULABLE = "unschedulable"
    IN_PROGRESS = "in progress"


class Waiting(msgspec.Struct, eq=False, gc=False):
    key: Key
    priority: int
    since: str
    """Creation time of its oldest pod, as text that sorts by time."""
    arrival: int
    size: int = 1
    """Number of its pods; larger groups may back off longer."""
    nodes: float = 0.0
    """How many nodes it fills, and which share of the cluster it takes, where its policy asks."""
    share: float = 0.0
    rank: float = 0.0
    """Its place among entries of its priority, by the policy of its queue; then age decides."""
    safe_seconds: float = math.inf
    """It runs seldom longer than this, as far as is known."""
    attempts: int = 0
    ready_at: float = 0.0
    unschedulable_since: float = 0.0
    refused_since: float = math.inf
    """When it was first found not to fit."""
    postponements: int = 0
    """Attempts in a row that took too many steps."""
    is_postponed: bool = False
    place: QueueState = QueueState.IN_PROGRESS
    ticket: int = 0
    """Distinguishes the entry's present heap item from stale ones."""
    scheduling_classes: tuple[SchedulingClass, ...] = ()
    """While unschedulable: the classes that fit on no node."""

    def order(self) -> tuple[int, float, str, int]:
        return (-self.priority, self.rank, self.since, self.arrival)


class _Heap:
    """A priority queue that skips stale items: an item counts only while its entry is still in `place`."""

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
        self._backing_off = _Heap(QueueState.BACKOFF)
        self._error_backoff = _Heap(QueueState.ERROR_BACKOFF)
        self._unschedulable: dict[Key, Waiting] = {}
        """Longest unschedulable first."""
        self._suspended: dict[Key, tuple[int, float]] = {}
        """Attempts and `refused_since` of groups that lack members to be tried."""
        self._refused_groups: dict[Key, Waiting] = {}
        """Groups that were tried and found not to fit."""
        self._refused_pods: dict[Key, Waiting] = {}
        self.refusals = 0
        """Differs whenever other entries are refused than before."""
        self._unschedulable_by_class: dict[SchedulingClass, dict[Key, Waiting]] = {}
        self._not_overtaken: tuple[Waiting, float] | None = None
        """An entry that was put aside, and until when those behind it wait for it."""

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
        """Remove the entry, and its suspended state if it has any."""
        self._suspended.pop(key, None)
        self.remove(key)

    def remove(self, key: Key) -> None:
        waiting = self._entries.pop(key, None)
        if self._refused_groups.pop(key, None) or self._refused_pods.pop(key, None):
            self.refusals += 1
        if waiting is not None:
            self._take_out(waiting)

    def peek(self) -> Waiting | None:
        """Return the next entry. Without an active one, entries in backoff need not wait any longer."""
        head = self._active.head() or self._backing_off.head()
        return None if head is not None and self._waits_for_another(head) else head

    def _waits_for_another(self, head: Waiting) -> bool:
        if self._not_overtaken is None:
            return False
        first, _ = self._not_overtaken
        is_aside = first.place is QueueState.UNSCHEDULABLE and self._entries.get(first.key) is first
        return is_aside and first.order() < head.order()

    def take(self, waiting: Waiting) -> None:
        """The caller tries the entry now, and then removes it or marks it unschedulable."""
        waiting.place = QueueState.IN_PROGRESS

    def mark_unschedulable(
        self, waiting: Waiting, scheduling_classes: Iterable[SchedulingClass], now: float
    ) -> None:
        """Try the entry again only after an improvement for one of these classes, or a change of its own."""
        self._count_attempt(waiting, now)
        waiting.refused_since = min(waiting.refused_since, now)
        refused = self._refused_groups if isinstance(waiting.key, GroupKey) else self._refused_pods
        if waiting.key not in refused:
            self.refusals += 1
        refused[waiting.key] = waiting
        waiting.place = QueueState.UNSCHEDULABLE
        waiting.unschedulable_since = now
        waiting.scheduling_classes = tuple(dict.fromkeys(scheduling_classes))
        self._unschedulable[waiting.key] = waiting
        for scheduling_class in waiting.scheduling_classes:
            self._unschedulable_by_class.setdefault(scheduling_class, {})[waiting.key] = waiting

    def update(self, key: Key, priority: int, size: int) -> None:
        """Follow a change of the entry's priority or size."""
        waiting = self._entries[key]
        waiting.size = size
        if waiting.priority != priority:
            waiting.priority = priority
            if waiting.place is QueueState.ACTIVE:
                self._active.push(waiting.order(), waiting)

    def reorder(self, key: Key, now: float) -> None:
        """Follow a change of the entry's rank; try it again when its backoff is over."""
        waiting = self._entries.get(key)
        if waiting is not None and waiting.place is QueueState.ACTIVE:
            self._active.push(waiting.order(), waiting)
        self.resume(key, now)

    def put_aside(self, key: Key, now: float) -> None:
        """Try the entry only after a change of its own; this is not counted as an attempt."""
        waiting = self._entries[key]
        self._take_out(waiting)
        waiting.place, waiting.unschedulable_since, waiting.scheduling_classes = (
            QueueState.UNSCHEDULABLE,
            now,
            (),
        )
        self._unschedulable[key] = waiting

    def let_nothing_overtake(self, key: Key, until: float) -> None:
        """Entries behind this one, which is put aside, wait for it; unless refused ones are ahead of it."""
        waiting = self._entries[key]
        if all(waiting.order() <= one.order() for one in self.refused()):
            self._not_overtaken = waiting, until

    def back_off_after_error(self, key: Key, now: float) -> None:
        """A write for the entry failed: try it again when its backoff is over, and not before."""
        waiting = self._entries[key]
        self._take_out(waiting)
        self._count_attempt(waiting, now)
        self._error_backoff.push((waiting.ready_at, *waiting.order()), waiting)

    def postpone(self, waiting: Waiting, now: float, seconds: float) -> None:
        """Others go first: nothing but the time wakes the entry, not even a change of its own."""
        self._take_out(waiting)
        waiting.ready_at, waiting.is_postponed = now + seconds, True
        waiting.postponements += 1
        self._error_backoff.push((waiting.ready_at, *waiting.order()), waiting)

    def wake(self, key: Key) -> None:
        """Make the entry active at once, whatever it waited for, unless it is postponed."""
        waiting = self._entries.get(key)
        if waiting is not None and waiting.place is not QueueState.ACTIVE and not waiting.is_postponed:
            self._take_out(waiting)
            self._active.push(waiting.order(), waiting)

    def resume(self, key: Key, now: float) -> None:
        """Try an unschedulable entry again when its backoff is over."""
        waiting = self._entries.get(key)
        if waiting is not None and waiting.place is QueueState.UNSCHEDULABLE:
            self._resume(waiting, now)

    def resume_at(self, key: Key, time: float) -> None:
        """Try an unschedulable entry again, but not before that time."""
        waiting = self._entries.get(key)
        if waiting is not None and waiting.place is QueueState.UNSCHEDULABLE:
            self._take_out(waiting)
            waiting.ready_at = max(waiting.ready_at, time)
            self._error_backoff.push((waiting.ready_at, *waiting.order()), waiting)

    def refused_groups(self) -> Collection[Waiting]:
        return self._refused_groups.values()

    def refused(self) -> list[Waiting]:
        """Groups and single pods that were tried and found not to fit."""
        return [*self._refused_groups.values(), *self._refused_pods.values()]

    def unschedulable(self) -> Collection[Waiting]:
        return self._unschedulable.values()

    @property
    def has_unschedulable(self) -> bool:
        return bool(self._unschedulable)

    def unschedulable_classes(self) -> list[SchedulingClass]:
        return list(self._unschedulable_by_class)

    @property
    def has_unschedulable_classes(self) -> bool:
        return bool(self._unschedulable_by_class)

    def unschedulable_for(self, scheduling_class: SchedulingClass) -> list[Key]:
        """Return the entries that wait because pods of this class fit nowhere."""
        return list(self._unschedulable_by_class.get(scheduling_class, {}))

    def promote(self, now: float) -> None:
        """Activate the entries whose backoff is over or that have been unschedulable for too long."""
        if self._not_overtaken is not None and self._not_overtaken[1] <= now:
            self._not_overtaken = None
        for heap in (self._backing_off, self._error_backoff):
            while (waiting := heap.head()) is not None and waiting.ready_at <= now:
                waiting.is_postponed = False
                self._active.push(waiting.order(), waiting)
        while self._unschedulable:
            longest = next(iter(self._unschedulable.values()))
            if longest.unschedulable_since + MAX_UNSCHEDULABLE_SECONDS > now:
                break
            self._resume(longest, now)

    def next_wakeup(self) -> float | None:
        """Return when `promote` next has something to do."""
        heads = (self._backing_off.head(), self._error_backoff.head())
        times = [head.ready_at for head in heads if head is not None]
        times += [self._not_overtaken[1]] if self._not_overtaken is not None else []
        if self._unschedulable:
            times.append(
                next(iter(self._unschedulable.values())).unschedulable_since + MAX_UNSCHEDULABLE_SECONDS
            )
        return min(times, default=None)

    def _resume(self, waiting: Waiting, now: float) -> None:
        self._take_out(waiting)
        if waiting.ready_at <= now:
            self._active.push(waiting.order(), waiting)
        else:
            self._backing_off.push((waiting.ready_at, *waiting.order()), waiting)

    def _take_out(self, waiting: Waiting) -> None:
        if waiting.place is QueueState.UNSCHEDULABLE:
            del self._unschedulable[waiting.key]
            for scheduling_class in waiting.scheduling_classes:
                together = self._unschedulable_by_class[scheduling_class]
                del together[waiting.key]
                if not together:
                    del self._unschedulable_by_class[scheduling_class]
        waiting.place = QueueState.IN_PROGRESS

    def _count_attempt(self, waiting: Waiting, now: float) -> None:
        waiting.attempts += 1
        most = self._backoff.most_seconds * math.sqrt(waiting.size)
        # The exponent is bounded so that the power stays small; any limit is reached long before.
        waiting.ready_at = now + min(self._backoff.first_seconds * 2 ** min(waiting.attempts - 1, 40), most)
