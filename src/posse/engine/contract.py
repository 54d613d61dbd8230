"""The extension points: small protocols that a rule implements, vectorised over node rows.

A rule is compiled once per pod class. What it compiles to answers for any rows at any time, reading the node
table's present columns; a rule that has nothing to say about a class compiles to None and costs nothing.
"""

from collections.abc import Sequence
from typing import Protocol

from posse.engine.node_table import BoolArray, IntArray, NodeTable, Rows
from posse.engine.pod_class import PodClass


class RowFilter(Protocol):
    """May a pod of this class be on the node? Looks at one row at a time, so rows can be answered one by one."""

    def passes(self, rows: Rows) -> BoolArray: ...

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        """Every reason with the rows it holds for; asked only for rows that do not pass."""
        ...

    def hopeless(self, rows: Rows) -> BoolArray:
        """Of rows that do not pass: where no eviction could help."""
        ...


class RowScore(Protocol):
    """How good is the node for a pod of this class, from 0 to 100, seen from the row alone?"""

    def points(self, rows: Rows) -> IntArray: ...


class FilterRule(Protocol):
    name: str

    def compile(self, pod_class: PodClass, nodes: NodeTable) -> RowFilter | None: ...


class ScoreRule(Protocol):
    name: str
    weight: int

    def compile(self, pod_class: PodClass, nodes: NodeTable) -> RowScore | None: ...
