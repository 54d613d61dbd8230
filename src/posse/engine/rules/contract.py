"""The extension points: small protocols that a rule implements, vectorised over node rows.

A rule is compiled once per subject. What it compiles to answers for any rows at any time, reading the present columns;
a rule that has nothing to say about a subject compiles to None and costs nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.rules.context import RuleContext, SchedulingClass


class Filter(Protocol):
    """May a pod of the subject be on the node?"""

    @property
    def is_row_local(self) -> bool:
        """Whether the answer for a node depends on that node and the pods on it alone."""
        ...

    def passes(self, rows: Rows) -> BoolArray: ...

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        """Every reason with the rows it holds for; asked only for rows that do not pass."""
        ...

    def hopeless(self, rows: Rows) -> BoolArray:
        """Of rows that do not pass: where no eviction could help."""
        ...


class RowScore(Protocol):
    """How good is the node, from 0 to 100, seen from the node and the pods on it alone?"""

    def points(self, rows: Rows) -> IntArray: ...


class RelativeScore(Protocol):
    """How good is the node compared with the others that could take the pod? The raw measure is the node's own."""

    def raw(self, rows: Rows) -> IntArray: ...

    def normalised(self, raw: IntArray, feasible: BoolArray) -> IntArray:
        """Points from 0 to 100 for the feasible rows, of which there is at least one."""
        ...


class ClusterScore(Protocol):
    """How good is the node, from 0 to 100, in view of all pods in the cluster?"""

    def points(self, feasible: BoolArray) -> IntArray: ...


class Precondition(Protocol):
    """Can a pod of the subject go anywhere at all?"""

    def objection(self) -> str:
        """Why it cannot, whatever the node; empty if nothing stands in its way. No eviction helps."""
        ...


class PreconditionRule(Protocol):
    name: str

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> Precondition | None: ...


class FilterRule(Protocol):
    name: str

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> Filter | None: ...


class RowScoreRule(Protocol):
    name: str
    weight: int

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> RowScore | None: ...


class RelativeScoreRule(Protocol):
    name: str
    weight: int

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> RelativeScore | None: ...


class ClusterScoreRule(Protocol):
    name: str
    weight: int

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> ClusterScore | None: ...


@dataclass(frozen=True, slots=True)
class GroupPlacement:
    """Where the members of a group would be, if it started now."""

    namespace: str
    name: str
    rows: IntArray
    """One entry per member with a node, those that had one before included; a row may come several times."""


class GroupRule(Protocol):
    """May the group start like this? Asked when enough members have found nodes, before any of them is bound."""

    name: str

    def objection(self, placement: GroupPlacement, context: RuleContext) -> str:
        """What is wrong with it; empty if nothing is."""
        ...


@dataclass(frozen=True, slots=True)
class StaticFilter:
    """A filter that reads the node's own description only: one reason, and no eviction helps."""

    is_row_local: ClassVar[bool] = True
    is_static: ClassVar[bool] = True
    reason: str
    passes: Callable[[Rows], BoolArray]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return ((self.reason, ~self.passes(rows)),)

    def hopeless(self, rows: Rows) -> BoolArray:
        return ~self.passes(rows)
