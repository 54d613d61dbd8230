"""The pod's nodeSelector and required node affinity, and that which a profile demands of the nodes of all its pods."""

from collections.abc import Sequence

from posse.engine.arrays import BoolArray, Rows
from posse.engine.node_selection import RowTest, required_affinity_test, selector_test
from posse.engine.rules.static_filter import StaticFilter
from posse.engine.scene import Scene, Subject
from posse.model.placement import NodeSelector

_NO_MATCH = "node(s) didn't match Pod's node affinity/selector"
_NOT_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"


class NodeAffinity:
    name = "NodeAffinity"

    def __init__(self, added: NodeSelector | None = None) -> None:
        self._added = added

    def compile(self, subject: Subject, scene: Scene) -> "StaticFilter | EnforcedAffinityFilter | None":
        own = required_affinity_test(scene.nodes, subject.pod_class.spec)
        if self._added is not None:
            return EnforcedAffinityFilter(selector_test(scene.nodes, self._added.node_selector_terms), own)
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
