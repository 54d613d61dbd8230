"""Pods that wait for victims on a nominated node. Capacity is reserved against equal or lower priorities.

While others are tried, nominated pods count as if they were on their nodes; not so for pods of higher
priority.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord, Usage

NOTHING_HELD = nullcontext()
"""Nothing is nominated, so nothing is reserved."""
_FEW = 8
"""Up to this many pods, reserving one by one is quicker than one sum."""


@dataclass(frozen=True, slots=True)
class _Held:
    """All reservations against pods of one priority, valid while `stamp` is the same."""

    stamp: tuple[int, ...]
    usage: Usage
    singly: tuple[PodRecord, ...]
    """Pods that count for more than their requests."""


class Nominations:
    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self.records: dict[str, PodRecord] = {}
        """Waiting pods with a nominated node, by uid."""
        self.changes = 0
        """Grows with every nomination that is made, lost or changed."""
        self._held: dict[int, _Held] = {}
        """By priority."""

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[PodRecord]:
        return iter(self.records.values())

    def put(self, record: PodRecord, node: str) -> None:
        record.nominated = node
        self.records[record.ref.uid] = record
        self.changes += 1

    def drop(self, record: PodRecord) -> None:
        """Release the reservation of the pod, if it has one."""
        if self.records.pop(record.ref.uid, None) is not None:
            self.changes += 1
            self._state.note_improved(record.nominated, record.effective_priority)
        record.nominated = ""

    def note_changed(self, record: PodRecord) -> None:
        """The class or the effective priority of the pod has changed."""
        self.changes += record.ref.uid in self.records

    def to(self, node: str) -> list[PodRecord]:
        """The pods nominated to the node."""
        return [record for record in self.records.values() if record.nominated == node]

    def crowded_out(self, nodes: Collection[str], priority: int) -> list[PodRecord]:
        """Nominees of lower priority that no longer fit on these nodes, even once terminating pods are gone.

        Where more than resources decides, nominees may block each other: then they are always tried again.
        """
        there: dict[str, list[PodRecord]] = {}
        for record in self.records.values():
            if record.nominated in nodes:
                there.setdefault(record.nominated, []).append(record)
        crowded = [
            record
            for node, nominees in there.items()
            if self._is_crowded(node, nominees)
            for record in nominees
        ]
        delicate = [
            record for nominees in there.values() for record in nominees if self._looks_around(record)
        ]
        found = {id(record): record for record in (*crowded, *delicate)}
        return [record for record in found.values() if record.effective_priority < priority]

    def _looks_around(self, record: PodRecord) -> bool:
        return not self._state.rules(self._state.scheduling_class(record)).counts_by_resources

    def _is_crowded(self, node: str, nominees: Sequence[PodRecord]) -> bool:
        row = self._state.nodes.row_of.get(node)
        if row is None:
            return False
        free = self._state.nodes.allocatable[:, row] - self._state.nodes.requested[:, row]
        ending = [record for record in self._state.pods_on(node) if record.is_ending]
        for record in ending:
            for index, amount in record.pod_class.requests:
                free[index] += amount
        for record in nominees:
            for index, amount in record.pod_class.limited:
                free[index] -= amount
        return any(free[index] < 0 for record in nominees for index, _ in record.pod_class.limited)

    def held(self, priority: int, trying: Collection[str]) -> AbstractContextManager[None]:
        """Reserve the nominated capacity while pods of this priority are tried."""
        return self._reserved(priority, trying) if self.records else NOTHING_HELD

    @contextmanager
    def _reserved(self, priority: int, trying: Collection[str]) -> Iterator[None]:
        if len(self.records) > _FEW and not any(uid in self.records for uid in trying):
            held = self._all_held(priority)
            usage, singly = held.usage, held.singly
        else:
            usage = None
            singly = tuple(
                r for uid, r in self.records.items() if r.effective_priority >= priority and uid not in trying
            )
        if usage is not None:
            self._state.add_usage(usage, 1)
        for record in singly:
            self._state.reserve(record, record.nominated)
        try:
            yield
        finally:
            for record in reversed(singly):
                self._state.unreserve(record, record.nominated)
            if usage is not None:
                self._state.add_usage(usage, -1)

    def _all_held(self, priority: int) -> _Held:
        state = self._state
        stamp = (self.changes, state.nodes.description_version, state.census.version)
        known = self._held.get(priority)
        if (
            known is not None
            and known.stamp == stamp
            and known.usage.requested.shape == state.nodes.requested.shape
        ):
            return known
        holding = [record for record in self.records.values() if record.effective_priority >= priority]
        plain = [(record, record.nominated) for record in holding if state.classes.is_only_load(record)]
        singly = tuple(record for record in holding if not state.classes.is_only_load(record))
        held = self._held[priority] = _Held(stamp, state.usage_of(plain), singly)
        return held
