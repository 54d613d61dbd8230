"""The pod's nodeSelector and required node affinity, and that which a profile demands of the nodes of all its pods.

Terms that spell out names of nodes, as those of DaemonSet pods do, leave all other nodes out before anything else is asked.
"""

from collections.abc import Sequence

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.nodes.node_selectors import (
    RowTest,
    name_test,
    pinned_names,
    required_affinity_test,
    selector_test,
)
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.static_filter import StaticFilter
from posse.model.placement import NodeSelector

_NO_MATCH = "node(s) didn't match Pod's node affinity/selector"
_NOT_NAMED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
_CONFLICT = "pod affinity terms conflict"
_NOT_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"


class NamesAgree:
    """A term may list names twice over, and then those that are in both lists count: there must be one."""

    name = "NodeAffinity"

    def compile(self, scheduling_class: SchedulingClass, _context: RuleContext) -> "NamesConflict | None":
        names = pinned_names(scheduling_class.pod_class.spec)
        return NamesConflict() if names is not None and not names else None


class NamesConflict:
    def objection(self) -> str:
        return _CONFLICT


class NamedNodes:
    name = "NodeAffinity"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> StaticFilter | None:
        names = pinned_names(scheduling_class.pod_class.spec)
        return StaticFilter(_NOT_NAMED, name_test(context.nodes, names)) if names else None


class NodeAffinityRule:
    name = "NodeAffinity"

    def __init__(self, added: NodeSelector | None = None) -> None:
        self._added = added

    def compile(
        self, scheduling_class: SchedulingClass, context: RuleContext
    ) -> "StaticFilter | EnforcedAffinityFilter | None":
        own = required_affinity_test(context.nodes, scheduling_class.pod_class.spec)
        if self._added is not None:
            return EnforcedAffinityFilter(selector_test(context.nodes, self._added.node_selector_terms), own)
        return StaticFilter(_NO_MATCH, own) if own is not None else None


class EnforcedAffinityFilter:
    is_row_local = True
    is_static = True

    def __init__(self, enforced: RowTest, own: RowTest | None) -> None:
        self._enforced = enforced
        self._own = own

    def passes(self, rows: Rows) -> BoolArray:
        return self._enforced(rows) & self._own(rows) if self._own is not None else self._enforced(rows)

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        enforced = self._enforced(rows)
        return ((_NOT_ENFORCED, ~enforced), (_NO_MATCH, enforced & ~self.passes(rows)))

    def hopeless(self, rows: Rows) -> BoolArray:
        return ~self.passes(rows)
