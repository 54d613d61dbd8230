"""Isolates plugin rules: whatever they raise or return, the engine continues.

A filter or group rule that raises, or returns an invalid answer, refuses with its name and the error as the
reason. A score that fails gives no points. Each fault is recorded once for the log.
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.contract import (
    ClusterScore,
    Filter,
    FilterRule,
    GroupPlacement,
    GroupRule,
    RelativeScore,
    RowScore,
    StaticFilter,
)
from posse.engine.rules.profile import is_static

_MAX_FAULTS = 1000

T = TypeVar("T")
Reasons = Sequence[tuple[str, BoolArray]]


class PluginFaults:
    """Faults of plugins; each is recorded once, up to a limit."""

    def __init__(self) -> None:
        self._told: dict[str, None] = {}
        self._new: list[str] = []

    def note(self, plugin: str, error: Exception) -> str:
        text = f"plugin {plugin} failed: {type(error).__name__}: {error}"
        if text not in self._told and len(self._told) < _MAX_FAULTS:
            self._told[text] = None
            self._new.append(text)
        return text

    def take(self) -> list[str]:
        taken, self._new = self._new, []
        return taken


class Guard:
    """Calls a plugin on behalf of one rule, or of its compiled form."""

    def __init__(self, plugin: str, faults: PluginFaults) -> None:
        self.fault = ""
        """Fault of the last call; empty if there was none."""
        self._plugin = plugin
        self._faults = faults

    def ask(self, question: Callable[[], T], otherwise: T) -> T:
        self.fault = ""
        try:
            return question()
        except Exception as error:  # noqa: BLE001 - no plugin error may stop the engine
            self.fault = self._faults.note(self._plugin, error)
            return otherwise


class GuardedFilterRule:
    def __init__(self, rule: FilterRule, faults: PluginFaults) -> None:
        self.name = rule.name
        self._rule = rule
        self._faults = faults

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> Filter | None:
        guard = Guard(self.name, self._faults)

        def question() -> GuardedFilter | None:
            made = self._rule.compile(scheduling_class, context)
            return GuardedFilter(guard, made, context) if made is not None else None

        compiled = guard.ask(question, None)
        if guard.fault:
            return StaticFilter(guard.fault, lambda rows: np.zeros_like(context.nodes.alive[rows]))
        return compiled


class GuardedFilter:
    def __init__(self, guard: Guard, made: Filter, context: RuleContext) -> None:
        self.is_row_local = bool(made.is_row_local)
        self.is_static = self.is_row_local and is_static(made)
        self._guard = guard
        self._made = made
        self._context = context

    def passes(self, rows: Rows) -> BoolArray:
        refused = np.zeros_like(self._context.nodes.alive[rows])
        return self._guard.ask(lambda: _bools(self._made.passes(rows), refused.shape), refused)

    def refusals(self, rows: Rows) -> Reasons:
        refused = ~self.passes(rows)
        if self._guard.fault:
            return self._failed(refused)

        def question() -> Reasons | None:
            return [
                (str(reason), _bools(holds, refused.shape)) for reason, holds in self._made.refusals(rows)
            ]

        reasons = self._guard.ask(question, None)
        return self._failed(refused) if reasons is None else reasons

    def _failed(self, refused: BoolArray) -> Reasons:
        return ((self._guard.fault, refused),)

    def unresolvable(self, rows: Rows) -> BoolArray:
        """Eviction does not repair a plugin."""
        all_of_them = np.ones_like(self._context.nodes.alive[rows])
        return self._guard.ask(lambda: _bools(self._made.unresolvable(rows), all_of_them.shape), all_of_them)


S = TypeVar("S")
Made_co = TypeVar("Made_co", covariant=True)


class ScoreRule(Protocol[Made_co]):
    name: str
    weight: int

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> Made_co | None: ...


class GuardedScoreRule(Generic[S]):
    def __init__(
        self, rule: ScoreRule[S], faults: PluginFaults, guarded: Callable[[Guard, S, RuleContext], S]
    ) -> None:
        self.name = rule.name
        self.weight = rule.weight
        self._rule = rule
        self._faults = faults
        self._guarded = guarded

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> S | None:
        guard = Guard(self.name, self._faults)
        made = guard.ask(lambda: self._rule.compile(scheduling_class, context), None)
        return self._guarded(guard, made, context) if made is not None else None


class GuardedRowScore:
    def __init__(self, guard: Guard, made: RowScore, context: RuleContext) -> None:
        self.is_static = is_static(made)
        self._guard = guard
        self._made = made
        self._context = context

    def points(self, rows: Rows) -> IntArray:
        nothing = np.zeros(self._context.nodes.alive[rows].shape, dtype=np.int64)
        return self._guard.ask(lambda: _points(self._made.points(rows), nothing.shape), nothing)


class GuardedRelativeScore:
    def __init__(self, guard: Guard, made: RelativeScore, context: RuleContext) -> None:
        self._guard = guard
        self._made = made
        self._context = context

    def raw(self, rows: Rows) -> IntArray:
        nothing = np.zeros(self._context.nodes.alive[rows].shape, dtype=np.int64)
        return self._guard.ask(lambda: _integers(self._made.raw(rows), nothing.shape), nothing)

    def normalised(self, raw: IntArray, feasible: BoolArray) -> IntArray:
        def question() -> IntArray:
            return _points(np.where(feasible, self._made.normalised(raw, feasible), 0), raw.shape)

        return self._guard.ask(question, np.zeros_like(raw))


class GuardedClusterScore:
    def __init__(self, guard: Guard, made: ClusterScore, _context: RuleContext) -> None:
        self._guard = guard
        self._made = made

    def points(self, feasible: BoolArray) -> IntArray:
        def question() -> IntArray:
            return _points(np.where(feasible, self._made.points(feasible), 0), feasible.shape)

        return self._guard.ask(question, np.zeros(feasible.shape, dtype=np.int64))


class GuardedGroupRule:
    def __init__(self, rule: GroupRule, faults: PluginFaults) -> None:
        self.name = rule.name
        self._rule = rule
        self._guard = Guard(rule.name, faults)

    def objection(self, placement: GroupPlacement, context: RuleContext) -> str:
        answer = self._guard.ask(lambda: str(self._rule.objection(placement, context) or ""), "")
        return self._guard.fault or answer


def _bools(answer: Any, shape: tuple[int, ...]) -> BoolArray:
    array = np.asarray(answer)
    if array.dtype != np.bool_ or array.shape != shape:
        raise TypeError(f"{_described(array)} instead of booleans of shape {shape}")
    return array


def _integers(answer: Any, shape: tuple[int, ...]) -> IntArray:
    array = np.asarray(answer)
    if not np.issubdtype(array.dtype, np.integer) or array.shape != shape:
        raise TypeError(f"{_described(array)} instead of integers of shape {shape}")
    return array.astype(np.int64)


def _points(answer: Any, shape: tuple[int, ...]) -> IntArray:
    points = _integers(answer, shape)
    if points.size and (points.min() < 0 or points.max() > 100):
        raise ValueError(f"points from {points.min()} to {points.max()}; they must be from 0 to 100")
    return points


def _described(array: np.ndarray[Any, Any]) -> str:
    return f"an array of {array.dtype} of shape {array.shape}"
