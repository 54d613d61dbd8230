"""The extension points: small protocols that a rule implements, vectorised over node rows.

A rule is compiled once per scheduling class. The compiled rule answers for any rows at any time from the
present columns. A rule that does not apply to a class compiles to None and costs nothing. A built-in rule
that declares by `applies_to` what a class must have (for example volumes) is compiled for no other class.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.rules.context import RuleContext, SchedulingClass


class Filter(Protocol):
    """May a pod of the class be on the node?"""

    @property
    def is_row_local(self) -> bool:
        """Whether the answer for a node depends on that node and the pods on it alone."""
        ...

    def passes(self, rows: Rows) -> BoolArray: ...

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        """Every reason with its rows; called only for rows that do not pass."""
        ...

    def unresolvable(self, rows: Rows) -> BoolArray:
        """Rows, among those that do not pass, where no eviction could help."""
        ...


class RowScore(Protocol):
    """A score from 0 to 100 by the node and the pods on it alone."""

    def points(self, rows: Rows) -> IntArray: ...


class RelativeScore(Protocol):
    """A score relative to other feasible nodes. The raw measure is the node's own."""

    def raw(self, rows: Rows) -> IntArray: ...

    def normalised(self, raw: IntArray, feasible: BoolArray) -> IntArray:
        """Points from 0 to 100 for the feasible rows; at least one row is feasible."""
        ...


class ClusterScore(Protocol):
    """A score from 0 to 100 that depends on all pods in the cluster."""

    def points(self, feasible: BoolArray) -> IntArray: ...


class Precondition(Protocol):
    """Whether a pod of the class can go anywhere at all."""

    def objection(self) -> str:
        """The objection for every node; empty if there is none. No eviction helps."""
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
    """Target nodes of a group's members if it started now."""

    namespace: str
    name: str
    rows: IntArray
    """One entry per member with a node, old or new; a row may occur several times."""


class GroupRule(Protocol):
    """May the group start like this? Called when enough members have nodes, before any of them is bound."""

    name: str

    def objection(self, placement: GroupPlacement, context: RuleContext) -> str:
        """The objection to the placement; empty if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class StaticFilter:
    """A filter that reads only the node's own description: one reason, and no eviction helps."""

    is_row_local: ClassVar[bool] = True
    is_static: ClassVar[bool] = True
    reason: str
    passes: Callable[[Rows], BoolArray]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return ((self.reason, ~self.passes(rows)),)

    def unresolvable(self, rows: Rows) -> BoolArray:
        return ~self.passes(rows)
