"""What each domain promises at best: how many pods it could take, and how full that would make it.

Both are bounds that hold whatever is placed in which order, so a domain that promises too little is hopeless for certain.
Where pods are alike and only resources limit them, the promise is exact.
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
    """At most so many of the pods find a place in each domain."""
    points: IntArray
    """At most so many points each gets for how full it is then."""
    utilization: DomainUtilization

    def best_first(self, least: int) -> list[int]:
        """Numbers of the domains that promise room for so many: for most of them first, then the fuller, then by name."""
        ordered: list[int] = np.lexsort((-self.points, -self.counts)).tolist()
        return [number for number in ordered if self.counts[number] >= least]


def closest_domain(state: ClusterState, group: Part) -> tuple[str, IntArray] | None:
    """The domain that its members pin, or the one that promises them most; None where there is none.

    With its rows, for whoever wants to know what is in their way there.
    """
    classes, pinned = classes_of(state, group.unattached()), pin_of(state, group).value
    seen = bounds(state, group.topology_key, classes)
    values = seen.domains.values
    for number in seen.best_first(0):
        if pinned in {None, values[number]}:
            return values[number], seen.domains.rows(number)
    return None


def could_hold(state: ClusterState, group: Part, least: int) -> bool:
    """Whether any domain that the group may go to promises room for so many of its members."""
    pinned = pin_of(state, group).value
    seen = bounds(state, group.topology_key, classes_of(state, group.unattached()))
    return any(pinned in {None, seen.domains.values[number]} for number in seen.best_first(least))


def bounds(state: ClusterState, key: str, classes: Sequence[MemberClass]) -> DomainBounds:
    """For pods of these classes in the domains of a label key, inside of the rows that the search is confined to."""
    domains = state.domains(key)
    utilization = state.utilization(domains, state.profile(classes[0][0].pod_class).domain_scoring.resources)
    counts = np.zeros(len(domains), dtype=np.int64)
    used = utilization.used()
    for scheduling_class, records in classes:
        fit = np.minimum(state.capacity(scheduling_class).upper_bound_in(domains), len(records))
        counts += fit
        used = used + utilization.load(scheduling_class.pod_class) * fit
    return DomainBounds(domains, counts, utilization.points(used), utilization)
