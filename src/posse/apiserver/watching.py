"""A watch as clients know it: changes to the selected objects, bookmarks, and 410 Expired for those who fell
behind.
"""

from collections.abc import Callable

from posse.kinds.machinery.errors import expired
from posse.kinds.machinery.kind import Json, Kind
from posse.store.change_log import Feed, StoreEvent
from posse.store.errors import HistoryExpired
from posse.store.objects import Stored

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Subscription:
    """Belongs to the thread of the event loop. The objects it yields are in storage form."""

    def __init__(self, kind: Kind, feed: Feed, *, marks_initial_end: bool = False) -> None:
        self._kind = kind.stored
        self._feed = feed
        self._marks_initial_end = marks_initial_end

    def on_ready(self, callback: Callable[[], None]) -> None:
        """Have `callback` called when there may be events to drain; it may turn out that there are none."""
        self._feed.on_ready(callback)
        if self._marks_initial_end:
            callback()

    def drain(self) -> list[StoreEvent]:
        """Return all events that are waiting. ApiError 410: too slow, the client must list again."""
        try:
            events = self._feed.drain()
        except HistoryExpired as error:
            raise expired(str(error)) from error
        if self._marks_initial_end:
            self._marks_initial_end = False
            events.append(self._bookmark({INITIAL_EVENTS_END: "true"}))
        return events

    def bookmark(self) -> StoreEvent:
        """Say how far the client is: everything up to this version has been drained."""
        return self._bookmark({})

    def close(self) -> None:
        self._feed.close()

    def _bookmark(self, annotations: dict[str, str]) -> StoreEvent:
        metadata: Json = {"resourceVersion": str(self._feed.version), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        obj = {"kind": self._kind.name, "apiVersion": self._kind.api_version, "metadata": metadata}
        return StoreEvent("BOOKMARK", Stored(obj, self._feed.version))
