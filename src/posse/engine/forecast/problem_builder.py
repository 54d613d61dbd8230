"""Reduces what an engine knows to the numbers of a forecast, in small steps between which it may decide."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from posse.engine.explain.queue_order import Ahead, ahead_of_each, entries_in_order, is_by_run_time
from posse.engine.forecast.forecast_problem import (
    ANYWHERE,
    ForecastProblem,
    LearnedRunTime,
    ReservedUnit,
    RunningUnit,
    WaitingUnit,
)
from posse.engine.groups.part import Part
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey, PodRef
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.search.fill import classes_of
from posse.engine.queue.backlog import Key, Waiting
from posse.engine.queue.capacity_reservation import usage_of
from posse.engine.queue.run_time_spread import RunTimeSpread
from posse.engine.queue.run_times import started_at
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.pod_record import PodRecord

MAX_WAITING = 1_000
"""Units that are forecast, those that are tried first."""
_UNITS_PER_STEP = 256
_ABOVE_ALL = 1 << 62
"""A priority for which reservations do not count."""

Name = GroupKey | PodRef


@dataclass(slots=True)
class ForecastQuestion:
    """A problem, and the names of its units."""

    problem: ForecastProblem
    running: list[Name] = field(default_factory=list)
    waiting: list[Name] = field(default_factory=list)
    learned: dict[Name, LearnedRunTime] = field(default_factory=dict)
    """Of what waits."""
    ahead: dict[GroupKey, Ahead] = field(default_factory=dict)
    """Of groups that wait, where their age does not tell it."""

    def name(self, unit: int) -> Name:
        """By its place among what runs, and then among what waits."""
        return self.running[unit] if unit < len(self.running) else self.waiting[unit - len(self.running)]


class ForecastProblemBuilder:
    def __init__(self, knowledge: Knowledge, now: float) -> None:
        self._knowledge, self._now = knowledge, now
        self._spreads: dict[RunTimeSpread, int] = {}
        self._shapes: dict[SchedulingClass, int] = {}
        self._keys: dict[str, int] = {}
        self._waiting: list[tuple[Name, WaitingUnit]] = []
        self._running: list[tuple[Name, RunningUnit]] = []
        self._learned: dict[Name, LearnedRunTime] = {}
        self._ahead: dict[GroupKey, Ahead] = {}
        self._by_age: dict[Key, int] = {}
        self._places: dict[Key, int] = {}
        """Of the entries among what waits."""

    def steps(self) -> Iterator[None]:
        """Each step reads some of the pods. Afterwards `question` has all."""
        entries = entries_in_order(self._knowledge)
        if is_by_run_time(self._knowledge):
            ahead = ahead_of_each(entries).items()
            self._ahead = {key: one for key, one in ahead if isinstance(key, GroupKey)}
        by_age = sorted(entries, key=lambda entry: (entry.since, entry.arrival))
        self._by_age = {entry.key: number for number, entry in enumerate(by_age)}
        for number, entry in enumerate(entries[:MAX_WAITING]):
            self._add_waiting(entry)
            if number % 16 == 0:
                yield
        resources = self._limited_resources()
        for number, records in enumerate(self._units().values() if self._waiting else ()):
            self._add_running(records, resources)
            if number % _UNITS_PER_STEP == 0:
                yield

    def question(self) -> ForecastQuestion:
        state, resources = self._knowledge.state, self._limited_resources()
        nodes, guard, lookahead = state.nodes, self._knowledge.starvation_guard, self._knowledge.lookahead
        with guard.lifted_for(_ABOVE_ALL):
            free = (nodes.allocatable - nodes.requested)[list(resources)]
        problem = ForecastProblem(
            node_count=free.shape[1],
            resource_count=len(resources),
            free=np.ascontiguousarray(free, dtype=np.int64).tobytes(),
            shapes=tuple(
                tuple(dict(one.pod_class.limited).get(index, 0) for index in resources)
                for one in self._shapes
            ),
            open_rows=tuple(state.capacity(one).open_when_empty().tobytes() for one in self._shapes),
            domains=tuple(self._domain_numbers(key) for key in self._keys),
            spreads=tuple(self._spreads),
            running=tuple(unit for _, unit in self._running),
            waiting=tuple(unit for _, unit in self._waiting),
            reservations=lookahead.most if lookahead is not None and guard.looks_ahead else 0,
            reserved=tuple(self._reserved(resources)),
        )
        running, waiting = [name for name, _ in self._running], [name for name, _ in self._waiting]
        return ForecastQuestion(problem, running, waiting, self._learned, self._ahead)

    def _add_waiting(self, entry: Waiting) -> None:
        knowledge = self._knowledge
        if not isinstance(entry.key, GroupKey):
            record = knowledge.pods.get(entry.key)
            if record is not None and not record.node:
                spread = knowledge.run_times.spread_of_record(record, 0.0)
                self._waiting.append((record.ref, self._waiting_unit(entry, [record], "", spread)))
            return
        root = root_of(knowledge.groups, entry.key)
        top = root.top if root is not None else None
        if root is None or top is None or not (records := _starting(top)):
            return
        longest = max(
            (knowledge.run_times.spread_of_group(leaf) for leaf in root.leaves),
            key=lambda one: one.usual,
            default=RunTimeSpread(),
        )
        self._waiting.append((entry.key, self._waiting_unit(entry, records, top.topology_key, longest)))
        expected = knowledge.run_times.of_root(root)
        if expected.basis:
            times = (round(expected.usual), round(expected.safe))
            self._learned[entry.key] = LearnedRunTime(*times, expected.basis)

    def _waiting_unit(
        self, entry: Waiting, records: list[PodRecord], key: str, spread: RunTimeSpread
    ) -> WaitingUnit:
        parts = tuple(
            (self._shapes.setdefault(one, len(self._shapes)), len(alike))
            for one, alike in classes_of(self._knowledge.state, records)
        )
        self._places[entry.key] = len(self._waiting)
        number = self._keys.setdefault(key, len(self._keys)) if key else ANYWHERE
        lookahead = self._knowledge.lookahead
        if lookahead is None:
            return WaitingUnit(parts, self._spread(spread), number, priority=entry.priority)
        return WaitingUnit(
            parts,
            self._spread(spread),
            number,
            entry.safe_seconds,
            entry.priority,
            lookahead.reserves_for(entry),
            lookahead.ages_in(entry, self._now),
            self._by_age[entry.key],
            max(0.0, self._now - entry.refused_since),
            lookahead.idle_share(entry),
        )

    def _reserved(self, resources: dict[int, int]) -> Iterator[ReservedUnit]:
        """Reservations that have a time, in the order in which they were made."""
        shape = self._knowledge.state.nodes.requested.shape
        for one in self._knowledge.starvation_guard.reservations:
            place = self._places.get(one.key)
            if one.is_dated and place is not None:
                held, planned = (
                    _listed(usage_of(part, shape), resources) for part in (one.shares, one.planned)
                )
                yield ReservedUnit(place, max(0.0, one.begins - self._now), held, planned)

    def _spread(self, spread: RunTimeSpread) -> int:
        return self._spreads.setdefault(spread, len(self._spreads))

    def _limited_resources(self) -> dict[int, int]:
        """The resources that anything that waits requests, and their numbers in the problem."""
        wanted = sorted(dict.fromkeys(index for one in self._shapes for index, _ in one.pod_class.limited))
        return {index: number for number, index in enumerate(wanted)}

    def _units(self) -> dict[Key, list[PodRecord]]:
        units: dict[Key, list[PodRecord]] = {}
        for record in self._knowledge.state.attached_records():
            units.setdefault(record.group or record.ref.uid, []).append(record)
        return units

    def _add_running(self, records: list[PodRecord], resources: dict[int, int]) -> None:
        row_of = self._knowledge.state.nodes.row_of
        freed: dict[tuple[int, int], int] = {}
        for record in records:
            row = row_of.get(record.node)
            for index, amount in record.pod_class.requests if row is not None else ():
                if index in resources and row is not None:
                    place = resources[index], row
                    freed[place] = freed.get(place, 0) + amount
        if not freed:
            return
        started = min(map(started_at, records))
        age = max(0.0, self._now - started) if started < math.inf else 0.0
        spread = self._knowledge.run_times.spread_of_record(records[0], age)
        unit = RunningUnit(
            age,
            self._spread(spread),
            tuple(index for index, _ in freed),
            tuple(row for _, row in freed),
            tuple(freed.values()),
        )
        self._running.append((records[0].group or records[0].ref, unit))

    def _domain_numbers(self, key: str) -> bytes:
        numbers = np.full(self._knowledge.state.nodes.alive.size, -1, dtype=np.int64)
        domains = self._knowledge.state.domains(key)
        for number in range(len(domains)):
            numbers[domains.rows(number)] = number
        return numbers.tobytes()


def start_times(knowledge: Knowledge, names: Iterable[Name]) -> dict[Name, float]:
    """When those of these units have started that are on nodes by now."""
    found: dict[Name, float] = {}
    for name in names:
        records: list[PodRecord] = []
        if isinstance(name, GroupKey):
            root = root_of(knowledge.groups, name)
            if root is not None and root.top is not None and root.top.is_started:
                records = list(root.members.values())
        elif name.uid in knowledge.pods:
            records = [knowledge.pods[name.uid]]
        started = min((started_at(one) for one in records if one.node), default=math.inf)
        if started < math.inf:
            found[name] = started
    return found


def _listed(amounts: IntArray, resources: dict[int, int]) -> tuple[tuple[int, ...], ...]:
    """Resources, nodes and amounts above zero, of the resources that are requested."""
    own = amounts[list(resources)]
    numbers, rows = np.nonzero(own > 0)
    return tuple(numbers.tolist()), tuple(rows.tolist()), tuple(own[numbers, rows].tolist())


def _starting(part: Part) -> list[PodRecord]:
    """The pods that must start together: the minimum of a group, and of as many children as must start."""
    missing = max(0, part.minimum - part.started_count)
    if not part.children:
        return part.own_unattached()[:missing]
    waiting = [child for child in part.children if not child.is_started][:missing]
    return [record for child in waiting for record in _starting(child)]
