import pytest

from posse.engine.nodes.node_selectors import tolerated
from tests.support.builders import taint, toleration


@pytest.mark.parametrize(
    ("tolerations", "covered"),
    [
        ([], False),
        ([toleration("gpu")], True),
        ([toleration("gpu", effect="NoSchedule")], True),
        ([toleration("gpu", effect="NoExecute")], False),
        ([toleration("disk")], False),
        ([toleration()], True),
        ([toleration(effect="NoExecute")], False),
        ([toleration("gpu", "Equal", "a100")], True),
        ([toleration("gpu", "", "a100")], True),
        ([toleration("gpu", "Equal", "h100")], False),
        ([toleration("gpu", "Equal")], False),
        ([toleration("gpu", "Matches", "a100")], False),
        ([toleration("disk"), toleration("gpu")], True),
    ],
)
def test_tolerations_cover_a_taint_by_key_value_and_effect(tolerations, covered):
    assert tolerated(taint("gpu", "NoSchedule", "a100"), tolerations) is covered
