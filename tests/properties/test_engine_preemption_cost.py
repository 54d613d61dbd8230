"""What room for a group costs: never more than by the documents' algorithm."""

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import gang, pod
from tests.differential.documented_preemption import compared
from tests.differential.strategies_preemption import clusters, objects_of
from tests.driving import Driver

PREEMPTOR = 5


@given(clusters, st.lists(st.integers(1, 3), min_size=1, max_size=5))
def test_room_never_costs_more_than_by_the_documents(cluster, sizes):
    waiting = [pod(f"w{i}", cpu=str(s), group="urgent", priority=PREEMPTOR) for i, s in enumerate(sizes)]
    urgent = gang("urgent", minimum=len(sizes), priority=PREEMPTOR)
    driver = Driver(*objects_of(cluster), urgent, *waiting)
    with compared() as costs:
        driver.decide()
    assert all(ours <= documented for ours, documented in costs)
