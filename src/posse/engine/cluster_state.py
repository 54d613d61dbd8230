"""The cluster as the engine believes it to be: nodes, pods, who is where, and what every class sees.

Only `attach` and `detach` move pods, and they are exact inverses: a pod that was never there leaves no trace.
A pod may name a node that is not known (yet, or any more); it then counts nowhere until the node appears.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.class_columns import ClassColumns
from posse.engine.contract import FilterRule, ScoreRule
from posse.engine.decisions import GroupKey, PodRef
from posse.engine.node_table import IntArray, NodeTable
from posse.engine.pod_class import ClassTable, PodClass
from posse.model.node import Node
from posse.model.pod import Pod


@dataclass(slots=True, eq=False)
class PodRecord:
    """One pod that is neither finished nor gone."""

    pod: Pod
    ref: PodRef
    pod_class: PodClass
    group: GroupKey | None
    created: str
    """RFC 3339 text, which sorts by time."""
    arrival: int
    """Order in which pods were first seen; breaks ties of creation time."""
    node: str = ""
    """Where it is attached: bound there, or promised by a decision that is on its way."""
    reported: tuple[str, str] = ("", "")
    """Reason and message last written to PodScheduled=False."""


class ClusterState:
    def __init__(self, filters: Sequence[FilterRule], scores: Sequence[ScoreRule]) -> None:
        self.nodes = NodeTable()
        self.classes = ClassTable(self.nodes)
        self._improved_rows: list[int] = []
        """Rows where something may fit now that did not before."""
        self.turn = 0
        """The row that comes first among nodes of equal rank; it moves on, so that equals share the load."""
        self._filters = filters
        self._scores = scores
        self._columns: dict[PodClass, ClassColumns] = {}
        self._pods_on: dict[str, dict[str, PodRecord]] = {}

    def columns(self, pod_class: PodClass) -> ClassColumns:
        columns = self._columns.get(pod_class)
        if columns is None:
            columns = ClassColumns(pod_class, self.nodes, self._filters, self._scores)
            self._columns[pod_class] = columns
        return columns

    def pods_on(self, node: str) -> Iterable[PodRecord]:
        return self._pods_on.get(node, {}).values()

    def put_node(self, node: Node) -> None:
        is_new = node.metadata.name not in self.nodes.row_of
        row = self.nodes.put(node)
        if is_new:
            for record in self.pods_on(node.metadata.name):
                self._add_usage(record.pod_class, np.array([row]))
        self._improved_rows.append(row)

    def drop_node(self, name: str) -> None:
        if name in self.nodes.row_of:
            self.nodes.drop(name)

    def attach(self, pod_class: PodClass, records: Sequence[PodRecord], rows: IntArray) -> None:
        """Put pods of one class on distinct rows."""
        for record, row in zip(records, rows.tolist(), strict=True):
            self._note(record, self.nodes.names[row])
        self._add_usage(pod_class, rows)

    def attach_by_name(self, record: PodRecord, node: str) -> None:
        self._note(record, node)
        row = self.nodes.row_of.get(node)
        if row is not None:
            self._add_usage(record.pod_class, np.array([row]))

    def detach(self, record: PodRecord) -> None:
        node, record.node = record.node, ""
        on_node = self._pods_on[node]
        del on_node[record.ref.uid]
        if not on_node:
            del self._pods_on[node]
        row = self.nodes.row_of.get(node)
        if row is not None:
            self.nodes.subtract_usage(np.array([row]), record.pod_class.requests, record.pod_class.scoring)

    def release(self, record: PodRecord) -> None:
        """Detach a pod for good: others may use its room."""
        row = self.nodes.row_of.get(record.node)
        self.detach(record)
        if row is not None:
            self._improved_rows.append(row)

    def leave_class(self, pod_class: PodClass) -> None:
        if self.classes.leave(pod_class):
            self._columns.pop(pod_class, None)

    def take_improved_rows(self) -> IntArray:
        taken, self._improved_rows = self._improved_rows, []
        return np.unique(np.array(taken, dtype=np.int64))

    def _note(self, record: PodRecord, node: str) -> None:
        record.node = node
        self._pods_on.setdefault(node, {})[record.ref.uid] = record

    def _add_usage(self, pod_class: PodClass, rows: IntArray) -> None:
        self.nodes.add_usage(rows, pod_class.requests, pod_class.scoring)
