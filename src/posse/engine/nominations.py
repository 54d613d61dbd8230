"""Pods that wait for the room that evictions make on a node. The room is held for them against all that matter no more.

While others are tried, nominated pods count as if they were on their nodes; not so for pods of higher priority.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from posse.engine.cluster_state import ClusterState, PodRecord


class Nominations:
    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._records: dict[str, PodRecord] = {}
        """Waiting pods with a nominated node, by uid."""

    def put(self, record: PodRecord, node: str) -> None:
        record.nominated = node
        self._records[record.ref.uid] = record

    def drop(self, record: PodRecord) -> None:
        """Let others have the room that was held, if any was."""
        if self._records.pop(record.ref.uid, None) is not None:
            self._state.note_improved(record.nominated)
        record.nominated = ""

    def to(self, node: str) -> list[PodRecord]:
        """The pods nominated to the node."""
        return [record for record in self._records.values() if record.nominated == node]

    def below(self, node: str, priority: int) -> list[PodRecord]:
        """Nominated to the node, and less important."""
        return [r for r in self._records.values() if r.nominated == node and r.priority < priority]

    @contextmanager
    def held(self, priority: int, trying: Collection[str]) -> Iterator[None]:
        """Hold the nominated room while pods of this priority are tried."""
        holding = [r for uid, r in self._records.items() if r.priority >= priority and uid not in trying]
        for record in holding:
            self._state.reserve(record, record.nominated)
        try:
            yield
        finally:
            for record in reversed(holding):
                self._state.unreserve(record, record.nominated)
