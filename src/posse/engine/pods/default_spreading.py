"""How pods are spread that do not say it themselves: a profile names domains, Services tell which pods belong together.

A pod that no Service selects is not spread: there is nothing it would have to keep away from.
"""

from dataclasses import dataclass, replace

from posse.engine.pods.affinity_terms import Spread, spread_of
from posse.engine.pods.domain_counts import HOSTNAME
from posse.engine.pods.selectors import PodSelector
from posse.engine.pods.service_index import ServiceBook
from posse.model.placement import TopologySpreadConstraint
from posse.model.pod import Pod
from posse.model.selectors import LabelQuery, LabelRequirement

ZONE = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class DefaultSpreading:
    constraints: tuple[TopologySpreadConstraint, ...] = ()
    needs_keys: bool = True
    """Whether nodes that lack one of the topology keys get no points at all."""

    def spreads(self, pod: Pod, services: ServiceBook) -> list[tuple[str, Spread]]:
        """What happens when it cannot be satisfied, and the constraint."""
        if not self.constraints or pod.spec.topology_spread_constraints:
            return []
        shared = services.shared_labels(pod.metadata.namespace, pod.metadata.labels)
        if not shared:
            return []
        wanted = tuple(LabelRequirement(key, "In", (value,)) for key, value in sorted(shared.items()))
        selector = PodSelector(LabelQuery(wanted), (pod.metadata.namespace,))
        return [
            (
                constraint.when_unsatisfiable,
                replace(spread_of(pod, constraint), selector=selector, needs_key=self.needs_keys),
            )
            for constraint in self.constraints
        ]


NO_SPREADING = DefaultSpreading()
SYSTEM_SPREADING = DefaultSpreading(
    (
        TopologySpreadConstraint(topology_key=HOSTNAME, max_skew=3, when_unsatisfiable="ScheduleAnyway"),
        TopologySpreadConstraint(topology_key=ZONE, max_skew=5, when_unsatisfiable="ScheduleAnyway"),
    ),
    needs_keys=False,
)
"""Nodes without a zone are still told apart by their names."""
