"""What-if as a transaction on the cluster state: place, remove, checkpoint, roll back, commit.

Every step is written down with enough to undo it. Rolled back, the state is as it was, to the last bit; nothing
that a draft does is visible outside the engine before it is committed.

Invariants are checked after every step; a broken one stops the process with the numbers that prove it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.node_table import NodeTable
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord


class InvariantBroken(Exception):  # noqa: N818 - a bug of ours, not an error of the outside
    """Posse contradicts itself; going on could bind a pod to a place that is not there."""


def ensure(holds: bool, law: str, **numbers: object) -> None:
    if not holds:
        shown = ", ".join(f"{name}={value!r}" for name, value in numbers.items())
        raise InvariantBroken(f"{law} ({shown})" if shown else law)


def no_row_over_capacity(nodes: NodeTable, rows: IntArray, resources: Sequence[int]) -> None:
    """A decision never takes more of a node than it has, of anything the placed pods request.

    Pods bound by others may overfill a node; then nothing that needs the overfilled resource is placed there.
    """
    if rows.size == 1:
        row = int(rows[0])
        for resource in resources:
            if nodes.requested[resource, row] > nodes.allocatable[resource, row]:
                _over_capacity(nodes, row, resource)
        return
    lines = np.array(resources, dtype=np.int64)[:, None]
    over = nodes.requested[lines, rows] > nodes.allocatable[lines, rows]
    if over.any():
        line, position = (int(found[0]) for found in np.nonzero(over))
        _over_capacity(nodes, int(rows[position]), resources[line])


def _over_capacity(nodes: NodeTable, row: int, resource: int) -> None:
    ensure(
        holds=False,
        law="no node over capacity",
        node=nodes.names[row],
        resource=list(nodes.resource_index)[resource],
        requested=int(nodes.requested[resource, row]),
        allocatable=int(nodes.allocatable[resource, row]),
    )


def no_gang_below_minimum(key: object, attached: int, minimum: int) -> None:
    """A group is bound when at least its minimum has a node, or of a composite group has started, before or now."""
    ensure(
        attached >= minimum, "no gang bound below its minimum", group=key, attached=attached, minimum=minimum
    )


def no_gang_across_domains(key: object, domains: Collection[str | None]) -> None:
    """All members of a group with a topology key are on nodes that share one value of that label."""
    ensure(len(domains) <= 1, "no gang across domains", group=key, domains=sorted(map(str, domains)))


@dataclass(frozen=True, slots=True)
class _Placed:
    records: tuple[PodRecord, ...]
    turn: int
    """Whose turn it was before, among nodes of equal rank."""


@dataclass(frozen=True, slots=True)
class _Removed:
    records: tuple[PodRecord, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _PutBack:
    records: tuple[PodRecord, ...]


class Draft:
    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._steps: list[_Placed | _Removed | _PutBack] = []
        self._removed_from: dict[str, str] = {}
        """Where pods were that this draft has removed, by uid."""

    def place(self, records: Sequence[PodRecord], rows: IntArray) -> None:
        """Put pods of one class each on its row; the next turn is that of the row after the last."""
        pod_class = records[0].pod_class
        self._steps.append(_Placed(tuple(records), self._state.turn))
        self._state.attach(pod_class, records, rows)
        self._state.turn = int(rows[-1]) + 1
        no_row_over_capacity(self._state.nodes, rows, [index for index, _ in pod_class.limited])

    def remove(self, records: Sequence[PodRecord]) -> None:
        self._steps.append(_Removed(tuple(records), tuple(record.node for record in records)))
        for record in records:
            self._removed_from[record.ref.uid] = record.node
            self._state.detach(record)

    def put_back(self, records: Sequence[PodRecord]) -> None:
        """Return pods that this draft removed to where they were."""
        self._steps.append(_PutBack(tuple(records)))
        for record in records:
            self._state.attach_by_name(record, self._removed_from[record.ref.uid])

    def checkpoint(self) -> int:
        return len(self._steps)

    def roll_back(self, checkpoint: int = 0) -> None:
        ensure(checkpoint <= len(self._steps), "a draft rolls back to a checkpoint of its own")
        while len(self._steps) > checkpoint:
            self._undo(self._steps.pop())

    def _undo(self, step: _Placed | _Removed | _PutBack) -> None:
        if isinstance(step, _Removed):
            for record, node in zip(step.records, step.nodes, strict=True):
                self._state.attach_by_name(record, node)
            return
        if isinstance(step, _Placed):
            self._state.turn = step.turn
        for record in reversed(step.records):
            self._state.detach(record)
            if isinstance(step, _Placed):
                record.volumes = ()

    def placed(self, since: int = 0) -> tuple[PodRecord, ...]:
        """The pods that were placed since a checkpoint, in order."""
        steps = self._steps[since:] if since else self._steps
        return tuple(record for step in steps if isinstance(step, _Placed) for record in step.records)

    def commit(self) -> tuple[PodRecord, ...]:
        """Keep what was done; returns the pods that were placed, in order."""
        placed = self.placed()
        self._steps.clear()
        return placed
