import pytest

from posse.cli.problems import Problem
from posse.cli.resources import kind_named, resource_names
from posse.kinds.registry import EVENT, NODE, POD, POD_GROUP


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pods", POD),
        ("pod", POD),
        ("po", POD),
        ("Pod", POD),
        ("no", NODE),
        ("podgroup", POD_GROUP),
        ("podgroups.scheduling.k8s.io", POD_GROUP),
        ("events", EVENT),
    ],
)
def test_all_the_ways_to_name_a_kind(text, kind):
    assert kind_named(text) is kind


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(Problem, match="podgroups"):
        kind_named("daemonsets")


def test_every_name_listed_is_understood():
    assert all(kind_named(name).plural == name for name in resource_names())
