"""What-if as a transaction on the cluster state: place, remove, checkpoint, roll back, commit.

Every step is recorded with enough to undo it. Rolled back, the state is as it was, to the last bit;
nothing that a draft does is visible outside the engine before it is committed.
"""

from collections.abc import Sequence
from itertools import chain

import msgspec

from posse.engine.devices.proposals import Held
from posse.engine.nodes.arrays import IntArray
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.invariants import ensure, no_row_over_capacity, row_not_over_capacity
from posse.engine.state.pod_record import PodRecord


class _Placed(msgspec.Struct, frozen=True, gc=False):
    records: tuple[PodRecord, ...]
    turn: int
    """The row whose turn it was before, among nodes of equal rank."""


class _Removed(msgspec.Struct, frozen=True, gc=False):
    records: tuple[PodRecord, ...]
    nodes: tuple[str, ...]
    devices: tuple[Held | None, ...]


class _PutBack(msgspec.Struct, frozen=True, gc=False):
    records: tuple[PodRecord, ...]


class Draft:
    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._steps: list[_Placed | _Removed | _PutBack] = []
        self._removed_from: dict[str, tuple[str, Held | None]] = {}
        """Former nodes and devices of pods that this draft has removed, by uid."""

    def place(self, records: Sequence[PodRecord], rows: IntArray) -> None:
        """Put each pod of one class on its row; the next turn is that of the row after the last."""
        pod_class = records[0].pod_class
        self._steps.append(_Placed(tuple(records), self._state.turn))
        self._state.attach(pod_class, records, rows)
        self._state.turn = int(rows[-1]) + 1
        no_row_over_capacity(self._state.nodes, rows, [index for index, _ in pod_class.limited])

    def place_one(self, record: PodRecord, row: int) -> None:
        """The same for a single pod."""
        self._steps.append(_Placed((record,), self._state.turn))
        self._state.attach_one(record, row)
        self._state.turn = row + 1
        row_not_over_capacity(self._state.nodes, row, record.pod_class.limited)

    def remove(self, records: Sequence[PodRecord]) -> None:
        nodes = tuple(record.node for record in records)
        for record in records:
            node = record.node
            self._state.set_aside(record)
            self._removed_from[record.ref.uid] = node, record.devices
        self._steps.append(_Removed(tuple(records), nodes, tuple(record.devices for record in records)))

    def put_back(self, records: Sequence[PodRecord]) -> None:
        """Return pods that this draft removed to their nodes."""
        self._steps.append(_PutBack(tuple(records)))
        for record in records:
            node, record.devices = self._removed_from[record.ref.uid]
            self._state.put_back(record, node)

    def checkpoint(self) -> int:
        return len(self._steps)

    def roll_back(self, checkpoint: int = 0) -> None:
        ensure(checkpoint <= len(self._steps), "a draft rolls back to a checkpoint of its own")
        while len(self._steps) > checkpoint:
            self._undo(self._steps.pop())

    def _undo(self, step: _Placed | _Removed | _PutBack) -> None:
        if isinstance(step, _Removed):
            for record, node, held in zip(step.records, step.nodes, step.devices, strict=True):
                record.devices = held
                self._state.put_back(record, node)
            return
        if isinstance(step, _Placed):
            self._state.turn = step.turn
        for record in reversed(step.records):
            if isinstance(step, _Placed):
                self._state.withdraw(record)
            else:
                self._state.set_aside(record)

    def placed(self, since: int = 0) -> tuple[PodRecord, ...]:
        """The pods that were placed since a checkpoint, in order."""
        steps = self._steps[since:] if since else self._steps
        records = [step.records for step in steps if isinstance(step, _Placed)]
        return records[0] if len(records) == 1 else tuple(chain.from_iterable(records))

    def commit(self) -> tuple[PodRecord, ...]:
        """Keep all steps; returns the pods that were placed, in order."""
        placed = self.placed()
        self._state.changes += bool(placed)
        self._steps.clear()
        if [record for record in placed if record.pod_class.devices is not None]:
            self._state.devices.proposals.settle()
        return placed
