"""What room in a rack costs at least, by a bound: never more than what a search of that rack finds."""

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.preemption.domain_costs import LeastCosts
from posse.engine.preemption.domain_search import DomainSearch
from posse.model.node import Node
from tests.differential.strategies_preemption import NODES, clusters, objects_of
from tests.support.builders import changed, gang, one_domain, pod
from tests.support.engine_driver import Driver

PREEMPTOR = 5
racks = st.lists(st.sampled_from(["r1", "r2"]), min_size=NODES, max_size=NODES)
search_in = DomainSearch._search_in


@given(clusters, racks, st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_no_search_finds_anything_below_the_bound(cluster, places, sizes):
    seen = []

    def compared(self, utilization, number, *, thorough):
        found = search_in(self, utilization, number, thorough=thorough)
        bound = LeastCosts(self.search, self.group).within(utilization.domains.rows(number))
        seen.extend((bound, one.cost) for one in found)
        return found

    objects = list(objects_of(cluster))
    labels = iter(places)
    labelled = [
        changed(one, metadata={"labels": {"rack": next(labels)}}) if isinstance(one, Node) else one
        for one in objects
    ]
    waiting = [pod(f"w{i}", cpu=str(s), group="urgent", priority=PREEMPTOR) for i, s in enumerate(sizes)]
    urgent = gang("urgent", minimum=len(sizes), priority=PREEMPTOR, **one_domain())
    with patch.object(DomainSearch, "_search_in", compared):
        Driver(*labelled, urgent, *waiting).decide()
    assert all(bound <= cost for bound, cost in seen)
