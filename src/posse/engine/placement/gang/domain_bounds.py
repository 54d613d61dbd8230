"""Upper bounds per domain: how many pods it could take, and how full that would make it.

The bounds hold for every order of placement, so a domain whose bound is too low is certainly infeasible. For
identical pods limited by resources alone, the bound is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.groups.part import Part
from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.topology_domains import Domains
from posse.engine.placement.gang.domain_pin import pin_of
from posse.engine.placement.search.fill import MemberClass, classes_of
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.domain_utilization import DomainUtilization


@dataclass(frozen=True, slots=True, eq=False)
class DomainBounds:
    domains: Domains
    counts: IntArray
    """Upper bound on the pods that each domain can take."""
    points: IntArray
    """Upper bound on the utilization points of each domain."""
    utilization: DomainUtilization

    def best_first(self, least: int) -> list[int]:
        """Numbers of the domains that could take this many pods.

        Highest bound first, then the fuller, then by name.
        """
        ordered: list[int] = np.lexsort((-self.points, -self.counts)).tolist()
        return [number for number in ordered if self.counts[number] >= least]


def closest_domain(state: ClusterState, group: Part) -> tuple[str, IntArray] | None:
    """The domain that the members pin, or the most promising one, with its rows; None if there is none."""
    classes, pinned = classes_of(state, group.unattached()), pin_of(state, group).value
    seen = bounds(state, group.topology_key, classes)
    values = seen.domains.values
    for number in seen.best_first(0):
        if pinned in {None, values[number]}:
            return values[number], seen.domains.rows(number)
    return None


def could_hold(state: ClusterState, group: Part, least: int) -> bool:
    """Whether any domain the group may use could have capacity for so many of its members."""
    pinned = pin_of(state, group).value
    seen = bounds(state, group.topology_key, classes_of(state, group.unattached()))
    return any(pinned in {None, seen.domains.values[number]} for number in seen.best_first(least))


def to_come(part: Part) -> int:
    """How many more pods its groups say there will be."""
    present = [(leaf, leaf.attached_count + len(leaf.unattached())) for leaf in part.leaves if leaf.expected]
    return sum(max(0, leaf.expected - count) for leaf, count in present)


def bounds(state: ClusterState, key: str, classes: Sequence[MemberClass], further: int = 0) -> DomainBounds:
    """Bounds for pods of these classes in the domains of a label key, within the rows of the search scope.

    Further pods, which do not exist yet, are taken to be like the most numerous ones.
    """
    most = max(classes, key=lambda one: len(one[1])) if further else None
    domains = state.domains(key)
    utilization = state.utilization(domains, state.profile(classes[0][0].pod_class).domain_scoring.resources)
    counts = np.zeros(len(domains), dtype=np.int64)
    used = utilization.used()
    for scheduling_class, records in classes:
        number = len(records) + (further if most is not None and most[0] is scheduling_class else 0)
        fit = np.minimum(state.capacity(scheduling_class).upper_bound_in(domains), number)
        counts += fit
        used = used + utilization.load(scheduling_class.pod_class) * fit
    return DomainBounds(domains, counts, utilization.points(used), utilization)
