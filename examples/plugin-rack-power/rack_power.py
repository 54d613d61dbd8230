"""Electricity as a matter of scheduling: a rack feeds its nodes with so many watts, and pods draw them.

Nodes carry two labels, power.example.com/rack and power.example.com/rack-watts; pods request power.example.com/watts.
No node offers watts of its own, so the configuration tells NodeResourcesFit to ignore them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posse.plugins import (
    BoolArray,
    ClusterScoreRule,
    FilterRule,
    GroupPlacement,
    GroupRule,
    IntArray,
    Rows,
    RuleContext,
    SchedulingClass,
    domain_sums,
)

RACK = "power.example.com/rack"
RACK_WATTS = "power.example.com/rack-watts"
WATTS = "power.example.com/watts"
_MOST_DIGITS = 9


class RackPower(FilterRule):
    """A node takes a pod only if its rack has the watts for it."""

    name = "RackPower"

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._reserve = int(arguments.get("reserveWatts", 0))

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "PowerFilter | None":
        wanted = _watts_wanted(scheduling_class, context)
        return PowerFilter(context, wanted + self._reserve) if wanted else None


class PowerFilter:
    # A pod on any node of the rack changes the answer for all of them.
    is_row_local = False

    def __init__(self, context: RuleContext, wanted: int) -> None:
        self._context = context
        self._wanted = wanted

    def passes(self, rows: Rows) -> BoolArray:
        return np.greater_equal(_watts_left(self._context)[rows], self._wanted)

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return (("node(s) had too little power in their rack", ~self.passes(rows)),)

    def unresolvable(self, rows: Rows) -> BoolArray:
        """Evicting pods of the rack gives their watts back, unless the rack never had enough."""
        return np.less(_rack_watts(self._context)[rows], self._wanted)


class RackHeadroom(ClusterScoreRule):
    """The more watts a rack has left, the better are its nodes."""

    name = "RackHeadroom"
    weight = 1

    def __init__(self, _arguments: Mapping[str, Any]) -> None:
        pass

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "HeadroomScore | None":
        return HeadroomScore(context) if _watts_wanted(scheduling_class, context) else None


class HeadroomScore:
    def __init__(self, context: RuleContext) -> None:
        self._context = context

    def points(self, feasible: BoolArray) -> IntArray:
        left = np.maximum(_watts_left(self._context), 0)
        most = max(int(left[feasible].max()), 1)
        return np.minimum(left, most) * 100 // most


class FewRacks(GroupRule):
    """A group whose members are in too many racks does not start."""

    name = "FewRacks"

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._most = int(arguments.get("racks", 1))

    def objection(self, placement: GroupPlacement, context: RuleContext) -> str:
        racks = np.unique(context.nodes.labels.column(RACK).ids[placement.rows]).size
        return f"its pods would be in {racks} racks, at most {self._most} are allowed" * (racks > self._most)


def _watts_wanted(scheduling_class: SchedulingClass, context: RuleContext) -> int:
    return dict(scheduling_class.pod_class.requests).get(context.nodes.resource(WATTS), 0)


def _watts_left(context: RuleContext) -> IntArray:
    """For every node: what its rack has left. Nodes without a rack have no power."""
    rack = context.nodes.labels.column(RACK)
    drawn = domain_sums(rack, context.nodes.requested[context.nodes.resource(WATTS)])
    return np.where(rack.ids >= 0, _rack_watts(context) - drawn[rack.ids + 1], 0)


def _rack_watts(context: RuleContext) -> IntArray:
    """For every node: what its label grants its rack, and 0 without the label."""
    watts = context.nodes.labels.column(RACK_WATTS)
    # Nodes without the label have the id -1, and with it the 0 at the end. Values stay although no node has them any more.
    return np.array([*map(_readable_watts, watts.values), 0])[watts.ids]


def _readable_watts(label: str) -> int:
    """A label that is no number, or a number no rack has, grants nothing: raising would refuse the nodes of all racks."""
    return int(label) if label.isdecimal() and len(label) <= _MOST_DIGITS else 0
