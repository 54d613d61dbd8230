"""Where nothing but resources decides, victims are found by sums; moving pods about to find out gives the same answer."""

from unittest.mock import PropertyMock, patch

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.rules.profile import CompiledRules
from posse.engine.trials import group_trial
from tests.differential.strategies_preemption import clusters, objects_of
from tests.support.builders import gang, pod
from tests.support.engine_driver import Driver

PREEMPTOR = 5


def outcome(cluster, *objects):
    return Driver(*objects_of(cluster), *objects).decide()


@given(clusters, st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_pods_choose_the_same_victims_by_sums_as_by_moving(cluster, sizes):
    waiting = [pod(f"w{i}", cpu=str(size), priority=PREEMPTOR) for i, size in enumerate(sizes)]
    by_sums = outcome(cluster, *waiting)
    with patch.object(CompiledRules, "counts_by_resources", PropertyMock(return_value=False)):
        assert outcome(cluster, *waiting) == by_sums


@given(clusters, st.lists(st.integers(1, 3), min_size=1, max_size=5))
def test_groups_choose_the_same_victims_by_sums_as_by_moving(cluster, sizes):
    waiting = [pod(f"w{i}", cpu=str(s), group="urgent", priority=PREEMPTOR) for i, s in enumerate(sizes)]
    urgent = gang("urgent", minimum=len(sizes), priority=PREEMPTOR)
    by_sums = outcome(cluster, urgent, *waiting)
    with patch.object(group_trial, "_needed", return_value=()):
        assert outcome(cluster, urgent, *waiting) == by_sums
