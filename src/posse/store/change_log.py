"""Published changes, kept for a while so that a watch can start in the past, and the feeds that read them.

A feed has no queue of its own: it remembers how far it has read. Publishing therefore costs a wake-up per
feed however many changes there are, and a reader too slow for the log finds its place gone instead of filling
the memory.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from posse.store.errors import HistoryExpired
from posse.store.objects import Change, Json, Stored

CHANGES_AS_OBJECTS = 500
BYTES_AS_OBJECTS = 4 * 1024 * 1024
"""Per resource, counted as text, which both bound together; older changes are kept as text."""


class StoreEvent(NamedTuple):
    """A change in a watch. `type` is ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    stored: Stored

    @property
    def obj(self) -> Json:
        return self.stored.obj

    @property
    def resource_version(self) -> str:
        return str(self.stored.version)


@dataclass(frozen=True, slots=True)
class Interest:
    """What a feed is about. `namespace` None means all; `accepts` None means every object."""

    resource: str
    namespace: str | None = None
    accepts: Callable[[Json], bool] | None = None

    def event(self, change: Change) -> StoreEvent | None:
        """Tell the change as this reader sees it: an object leaving what it accepts is deleted to it."""
        if self.namespace is not None and change.key.namespace != self.namespace:
            return None
        was, now = self._sees(change.before), self._sees(change.after)
        if now and change.after is not None:
            return StoreEvent("MODIFIED" if was else "ADDED", change.after)
        return StoreEvent("DELETED", change.gone) if was else None

    def _sees(self, stored: Stored | None) -> bool:
        return stored is not None and (self.accepts is None or self.accepts(stored.obj))


class History:
    """The latest changes of one resource.

    Old ones are dropped in portions: between `limit` changes and twice as many are kept. All but the newest
    are kept as text.
    """

    def __init__(self, floor: int, limit: int) -> None:
        # All changes of the resource with a version above the floor are here, oldest first.
        self._floor = floor
        self._limit = limit
        self._changes: list[Change] = []
        # So many of the oldest are kept as text.
        self._text_only = 0
        self.size_bytes = 0
        """Of all changes, as text."""
        # The same of those that are kept as objects.
        self._object_bytes = 0
        # Positions count changes since the start, so they stay meaningful when old changes are dropped.
        self._dropped = 0

    @property
    def end(self) -> int:
        return self._dropped + len(self._changes)

    def append(self, change: Change) -> None:
        self._changes.append(change)
        self.size_bytes += change.size_bytes
        self._object_bytes += change.size_bytes
        if len(self._changes) > 2 * self._limit:
            self._drop(len(self._changes) - self._limit)

    def keep_text_only(self) -> None:
        """Save memory on all but the newest changes, which feeds may not have read yet."""
        while (
            len(self._changes) - self._text_only > CHANGES_AS_OBJECTS or self._object_bytes > BYTES_AS_OBJECTS
        ):
            change = self._changes[self._text_only]
            change.keep_text_only()
            self._object_bytes -= change.size_bytes
            self._text_only += 1

    def halve(self) -> bool:
        """Drop the older half, by bytes, but never the last change; return whether anything was dropped."""
        kept_bytes, surplus = self.size_bytes, 0
        while surplus < len(self._changes) - 1 and 2 * kept_bytes > self.size_bytes:
            kept_bytes -= self._changes[surplus].size_bytes
            surplus += 1
        self._drop(surplus)
        return surplus > 0

    def compact(self, version: int) -> bool:
        """Drop the changes up to a version; return whether there were any."""
        surplus = bisect_right(self._changes, version, key=lambda change: change.version)
        self._drop(surplus)
        return surplus > 0

    def _drop(self, surplus: int) -> None:
        if not surplus:
            return
        self._floor = self._changes[surplus - 1].version
        self._dropped += surplus
        self._object_bytes -= sum(change.size_bytes for change in self._changes[self._text_only : surplus])
        self._text_only = max(0, self._text_only - surplus)
        self.size_bytes -= sum(change.size_bytes for change in self._changes[:surplus])
        del self._changes[:surplus]

    def reaches(self, version: int) -> bool:
        return version >= self._floor

    def position_after(self, version: int) -> int:
        if not self.reaches(version):
            raise HistoryExpired(version, self._floor)
        return self._dropped + bisect_right(self._changes, version, key=lambda change: change.version)

    def since(self, position: int, version: int) -> Sequence[Change]:
        """Return the changes from `position` on; `version` is the last one read, for the error text."""
        if position < self._dropped:
            raise HistoryExpired(version, self._floor)
        return self._changes[position - self._dropped :]


class Feed:
    """One reader of the log. Everything up to `version` has been drained or was of no interest."""

    def __init__(self, log: "ChangeLog", interest: Interest, after: int, initial: Sequence[Stored]) -> None:
        self.version = after
        self._log = log
        self._interest = interest
        self._initial = initial
        # Writes up to `after` may still wait to be published; they are skipped when they come by.
        self._after = after
        self._history = log.history(interest.resource)
        self._position = self._history.position_after(after)
        self._ready: Callable[[], None] | None = None

    def on_ready(self, callback: Callable[[], None]) -> None:
        """Have `callback` called whenever there may be something to drain, at once if there is now."""
        self._ready = callback
        if self._initial or self._position < self._history.end:
            callback()

    def drain(self) -> list[StoreEvent]:
        """Return what is new. HistoryExpired: this reader was too slow and must list again."""
        events = [StoreEvent("ADDED", stored) for stored in self._initial]
        self._initial = ()
        changes = self._history.since(self._position, self.version)
        self._position = self._history.end
        for change in changes:
            event = self._interest.event(change) if change.version > self._after else None
            if event is not None:
                events.append(event)
        self.version = max(self._after, self._log.version)
        return events

    def wake(self) -> None:
        if self._ready is not None:
            self._ready()

    def close(self) -> None:
        self._ready = None
        self._log.forget(self._interest.resource, self)


class ChangeLog:
    """All histories, which together take `limit_bytes`, and all feeds.

    Every change up to `version` has been published.
    """

    def __init__(self, version: int, limit: int, limit_bytes: int) -> None:
        self.version = version
        self._start = version
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._histories: dict[str, History] = {}
        self._feeds: defaultdict[str, list[Feed]] = defaultdict(list)

    def history(self, resource: str) -> History:
        if resource not in self._histories:
            self._histories[resource] = History(self._start, self._limit)
        return self._histories[resource]

    def publish(self, changes: Iterable[Change]) -> None:
        touched: dict[str, None] = {}
        for change in changes:
            history = self.history(change.key.resource)
            if change.key.resource not in touched:
                # Feeds have had the time to read what was published before this.
                history.keep_text_only()
            history.append(change)
            touched[change.key.resource] = None
            self.version = change.version
        self._bound_bytes()
        for resource in touched:
            for feed in tuple(self._feeds[resource]):
                feed.wake()

    def _bound_bytes(self) -> None:
        """The largest history gives way, so that large objects do not shorten the histories of others."""
        while sum(history.size_bytes for history in self._histories.values()) > self._limit_bytes:
            if not max(self._histories.values(), key=lambda history: history.size_bytes).halve():
                return

    def compact(self, version: int) -> bool:
        """Forget the changes up to a version; return whether there were any."""
        forgotten = [history.compact(version) for history in self._histories.values()]
        return any(forgotten)

    def feed(self, interest: Interest, after: int, initial: Sequence[Stored] = ()) -> Feed:
        feed = Feed(self, interest, after, initial)
        self._feeds[interest.resource].append(feed)
        return feed

    def forget(self, resource: str, feed: Feed) -> None:
        if feed in self._feeds[resource]:
            self._feeds[resource].remove(feed)
