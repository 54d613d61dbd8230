"""What each domain promises at best: how many pods it could take, and how full that would make it.

Both are bounds that hold whatever is placed in which order, so a domain that promises too little is hopeless for certain.
Where pods are alike and only resources limit them, the promise is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.arrays import IntArray
from posse.engine.cluster_state import ClusterState
from posse.engine.search.orders import MemberClass
from posse.engine.topology.domains import Domains
from posse.engine.topology.fullness import Fullness


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    domains: Domains
    counts: IntArray
    """At most so many of the pods find a place in each domain."""
    fullness: IntArray
    """At most so many points each gets for how full it is then."""

    def only(self, value: str) -> "Outlook":
        """Of one domain, or of none if it is not among them."""
        numbers = [self.domains.values.index(value)] if value in self.domains.values else []
        return Outlook(self.domains.only(numbers), self.counts[numbers], self.fullness[numbers])

    def best_first(self, least: int) -> list[int]:
        """Numbers of the domains that promise room for so many: for most of them first, then the fuller, then by name."""
        ordered: list[int] = np.lexsort((-self.fullness, -self.counts)).tolist()
        return [number for number in ordered if self.counts[number] >= least]


def outlook(state: ClusterState, key: str, classes: Sequence[MemberClass]) -> Outlook:
    """For pods of these classes in the domains of a label key, inside of the rows that the search is confined to."""
    domains = state.domains(key)
    fullness = Fullness(state.nodes, state.profile(classes[0][0].pod_class).domain_scoring.resources)
    counts = np.zeros(len(domains), dtype=np.int64)
    used = domains.sums(fullness.used())
    for subject, records in classes:
        most = np.minimum(state.view(subject).most(), len(records))
        fit = np.minimum(domains.sums(most), len(records))
        counts += fit
        used += fullness.load(subject.pod_class) * fit
    return Outlook(domains, counts, fullness.points(used, domains.sums(fullness.capacity())))
