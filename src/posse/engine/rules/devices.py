"""Devices for the claims of a pod: nodes where all of them find some, and preferred alternatives."""

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from posse.engine.causes import ClaimElsewhere, DeviceShortage
from posse.engine.devices.answers import Reply
from posse.engine.devices.devices import Devices
from posse.engine.devices.needs import DeviceNeeds
from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.nodes.node_table import NodeTable
from posse.engine.rules.context import RuleContext, SchedulingClass

_TOO_FEW = "cannot allocate all claims"
_ELSEWHERE = "resourceclaim not available on the node"
_INVALID = "invalid resource pools were encountered"
_UNDECIDED = "the search for devices did not end within its limit"
_FULL_MARKS = 100


class DeviceClaimsUsable:
    name = "DynamicResources"
    applies_to = attrgetter("pod_class.devices")

    def compile(self, scheduling_class: SchedulingClass, _context: RuleContext) -> "DeviceProblem | None":
        needs = scheduling_class.pod_class.devices
        return DeviceProblem(needs) if needs is not None and needs.problem else None


class DeviceProblem:
    def __init__(self, needs: DeviceNeeds) -> None:
        self._problem = needs.problem
        self.is_error = needs.is_error

    def objection(self) -> str:
        return self._problem


class DynamicResources:
    name = "DynamicResources"
    applies_to = attrgetter("pod_class.devices")

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "DeviceFilter | None":
        needs = scheduling_class.pod_class.devices
        if needs is None or needs.problem:
            return None
        return DeviceFilter(needs, context)


class DeviceFilter:
    is_orderless = True
    is_enumerable = True

    def __init__(self, needs: DeviceNeeds, context: RuleContext) -> None:
        self.is_row_local = not needs.spans_nodes
        """Claims and devices of one node alone, unless several nodes can reach them."""
        self._needs = needs
        self._nodes: NodeTable = context.nodes
        self._devices: Devices = context.devices

    @property
    def counts_exactly(self) -> bool:
        return self.is_row_local and self._devices.counts_exactly(self._needs)

    def passes(self, rows: Rows) -> BoolArray:
        return self._devices.passes(self._needs, rows)

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        answers = self._devices.answers
        refused = ~self.passes(rows)
        elsewhere = refused & ~answers.claims.reachable(self._needs)[rows]
        replies = self._devices.replies(self._needs, rows)
        cut_short = refused & ~elsewhere & np.equal(replies, Reply.CUT_SHORT)
        others = refused & ~elsewhere & ~cut_short
        invalid = others & self._has_invalid_pools(rows, others)
        error = others & np.equal(replies, Reply.ERROR)
        reasons = [
            (_ELSEWHERE, elsewhere),
            (_UNDECIDED, cut_short),
            (_INVALID, invalid & ~error),
            (_TOO_FEW, others & ~invalid & ~error),
        ]
        fault = self._devices.fault(self._needs) if error.any() else None
        return [*reasons, (fault.text(), error)] if fault is not None else reasons

    def shortages(self, refused: BoolArray) -> tuple[DeviceShortage | ClaimElsewhere, ...]:
        return self._devices.shortages(self._needs, refused)

    def unresolvable(self, rows: Rows) -> BoolArray:
        answers = self._devices.answers
        possible = self._devices.when_empty(self._needs, rows) & answers.claims.reachable(self._needs)[rows]
        return ~self.passes(rows) & ~possible

    def _has_invalid_pools(self, rows: Rows, concerned: BoolArray) -> BoolArray:
        found = np.zeros_like(concerned)
        inventory = self._devices.inventory
        if not inventory.invalid_pools():
            return found
        numbers = np.arange(self._nodes.alive.size)[rows]
        for position in np.flatnonzero(concerned & self._nodes.alive[rows]).tolist():
            found[position] = inventory.has_invalid_pool(int(numbers[position]))
        return found


class DevicePreference:
    """Nodes where requests with alternatives get those that come first in their lists."""

    name = "DynamicResources"
    applies_to = attrgetter("pod_class.devices")

    def __init__(self, weight: int = 2) -> None:
        self.weight = weight

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "AlternativeScore | None":
        needs = scheduling_class.pod_class.devices
        if needs is None or needs.problem or not context.devices.has_lists(needs):
            return None
        return AlternativeScore(needs, context.devices)


class AlternativeScore:
    def __init__(self, needs: DeviceNeeds, devices: Devices) -> None:
        self._needs = needs
        self._devices = devices

    def points(self, feasible: BoolArray) -> IntArray:
        raw = np.where(feasible, self._devices.preference(self._needs), 0)
        most = int(raw.max(initial=0))
        return raw * _FULL_MARKS // most if most > 0 else raw
