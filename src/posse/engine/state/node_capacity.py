"""How many pods of one scheduling class nodes and domains can take, and which nodes could take any at all."""

import numpy as np

from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray
from posse.engine.nodes.domain_sums import DomainSums
from posse.engine.nodes.topology_domains import Domains
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.profile import CompiledRules
from posse.engine.state.node_scores import REFUSED, NodeScores

_UNLIMITED = 2**52
"""More pods than any cluster has, and far from overflow when summed over all nodes."""
_UNLIMITED_TERM = 2**40
"""The same for a bound that is summed over any number of nodes."""


class NodeCapacity:
    def __init__(
        self,
        scheduling_class: SchedulingClass,
        context: RuleContext,
        rules: CompiledRules,
        scores: NodeScores,
    ) -> None:
        self._nodes = context.nodes
        self._scope = context.scope
        self._rules = rules
        self._scores = scores
        self._limited = scheduling_class.pod_class.limited
        pod_class = scheduling_class.pod_class
        self._max_per_node = 1 if rules.is_exclusive else _UNLIMITED
        needs, self._devices = pod_class.devices, context.devices
        self._needs = needs if needs is not None and not (needs.spans_nodes or needs.problem) else None
        """Devices that are counted node by node."""
        lines, wanted = zip(*self._limited, strict=True) if self._limited else ((), ())
        self._limits = np.array(lines, dtype=np.int64)[:, None], np.array(wanted, dtype=np.int64)[:, None]
        self._bounds: dict[str, DomainSums] = {}
        """By topology key, for whole clusters."""

    def per_node(self) -> IntArray:
        """How many more pods each node can take, by resources and the present answers of filters."""
        return np.where(np.not_equal(self._scores.totals(), REFUSED), self._by_resources(), 0)

    def upper_bound_in(self, domains: Domains) -> IntArray:
        """Upper bound on further pods in each domain, whatever else is placed."""
        known = self._bounds.get(domains.key)
        if known is None or known.domains is not domains:
            known = DomainSums(self._nodes, domains)
            # Bounds within a scope are used once; those of the whole cluster are worth keeping.
            if self._scope.rows is None:
                self._bounds[domains.key] = known
        return known.present(self.upper_bound_on)

    def upper_bound_on(self, rows: IntArray) -> IntArray:
        """Upper bound on further pods on each of these rows, whatever else is placed."""
        # Rules that read other nodes may admit pods once others are there; a node and its resources never do.
        open_rows = (
            self._scores.passes_when_empty()[rows]
            if self._rules.depends_on_other_nodes
            else self._scores.passes_by_itself(rows)
        )
        # An overfilled node takes no capacity from its neighbours.
        pods = np.minimum(np.maximum(self.by_resources_on(rows), 0), _UNLIMITED_TERM)
        return np.where(open_rows, pods, 0)

    def by_resources_on(self, rows: IntArray) -> IntArray:
        """How many more pods these rows can take by resources; negative on overfilled nodes."""
        lines, wanted = self._limits
        free = self._nodes.allocatable[lines, rows] - self._nodes.requested[lines, rows]
        pods: IntArray = np.minimum.reduce(free // wanted, axis=0, initial=self._max_per_node)
        return pods if self._needs is None else np.minimum(pods, self._devices.most(self._needs, rows))

    def resolvable(self) -> BoolArray:
        """Return the nodes that pass every filter, or fail only those that evictions can help with."""
        open_rows = self._scope.usable(self._nodes.alive)
        for _, made in self._rules.filters:
            open_rows &= made.passes(ALL_ROWS) | ~made.unresolvable(ALL_ROWS)
        return open_rows

    def open_when_empty(self) -> BoolArray:
        """The nodes that could take these pods if empty, by node properties alone."""
        return self._scores.passes_when_empty() & self._scope.usable(self._nodes.alive)

    def objecting_only(self, rule: str) -> BoolArray:
        """The nodes that only this rule refuses."""
        rows = self._scope.usable(self._nodes.alive) & (self._rules.objection() is None)
        for name, made in self._rules.filters:
            if name != rule:
                rows &= made.passes(ALL_ROWS)
        return rows

    def _by_resources(self) -> IntArray:
        pods = np.full(self._nodes.alive.size, self._max_per_node, dtype=np.int64)
        for index, wanted in self._limited:
            free = self._nodes.allocatable[index] - self._nodes.requested[index]
            np.minimum(pods, free // wanted, out=pods)
        return pods if self._needs is None else np.minimum(pods, self._devices.most(self._needs, ALL_ROWS))
