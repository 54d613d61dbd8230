"""Which key is due next, and when: one timer per key, kept in a heap.

Setting or cancelling a timer leaves its old heap entry behind; such entries are skipped when they surface,
and the heap is rebuilt before they outnumber the live ones.
"""

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

# Below this size rebuilding costs more than it saves.
SMALLEST_REBUILD = 64


class Timers(Generic[Key]):
    def __init__(self) -> None:
        # The sequence number makes equal times come out in the order they were set, whatever the keys are.
        self._entries: list[tuple[float, int, Key]] = []
        self._live: dict[Key, tuple[float, int]] = {}
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, key: Key) -> bool:
        return key in self._live

    def set(self, key: Key, at: float) -> None:
        self._sequence += 1
        self._live[key] = (at, self._sequence)
        heapq.heappush(self._entries, (at, self._sequence, key))
        self._rebuild_if_stale()

    def cancel(self, key: Key) -> None:
        self._live.pop(key, None)

    def next_time(self) -> float | None:
        self._drop_stale_head()
        return self._entries[0][0] if self._entries else None

    def pop_due(self, now: float, limit: int) -> list[Key]:
        """Remove and return up to `limit` keys whose time has come, earliest first."""
        due: list[Key] = []
        while len(due) < limit:
            at = self.next_time()
            if at is None or at > now:
                break
            _, _, key = heapq.heappop(self._entries)
            del self._live[key]
            due.append(key)
        return due

    def _is_live(self, entry: tuple[float, int, Key]) -> bool:
        at, sequence, key = entry
        return self._live.get(key) == (at, sequence)

    def _drop_stale_head(self) -> None:
        while self._entries and not self._is_live(self._entries[0]):
            heapq.heappop(self._entries)

    def _rebuild_if_stale(self) -> None:
        if len(self._entries) > max(SMALLEST_REBUILD, 2 * len(self._live)):
            self._entries = [entry for entry in self._entries if self._is_live(entry)]
            heapq.heapify(self._entries)
