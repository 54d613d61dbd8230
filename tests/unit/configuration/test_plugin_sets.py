"""Enabling and disabling, as kube-scheduler understands it."""

import pytest

from posse.engine.rules.registry import DEFAULT_PROFILE
from tests.support.configurations import disabled, enabled, filters, profile, scores

DEFAULT_FILTERS = filters(DEFAULT_PROFILE)
DEFAULT_SCORES = scores(DEFAULT_PROFILE)


def made(**points):
    return profile({"plugins": points})


def without(names, *gone):
    return [name for name in names if name not in gone]


def test_what_is_disabled_everywhere_neither_filters_nor_scores():
    one = made(multiPoint=disabled("TaintToleration"))
    assert filters(one) == without(DEFAULT_FILTERS, "TaintToleration")
    assert scores(one) == {n: w for n, w in DEFAULT_SCORES.items() if n != "TaintToleration"}


def test_what_is_disabled_at_one_point_goes_on_at_the_others():
    one = made(score=disabled("TaintToleration"))
    assert filters(one) == DEFAULT_FILTERS
    assert "TaintToleration" not in scores(one)


def test_everything_may_be_disabled_and_some_enabled_again():
    one = made(multiPoint=disabled("*") | enabled("NodeResourcesFit", ImageLocality=4))
    assert filters(one) == ["NodeResourcesFit"]
    assert scores(one) == {"NodeResourcesFit": 1, "ImageLocality": 4}


def test_everything_may_be_disabled_at_one_point():
    one = made(score=disabled("*") | enabled(ImageLocality=9))
    assert filters(one) == DEFAULT_FILTERS
    assert scores(one) == {"ImageLocality": 9}


def test_a_weight_for_every_point_keeps_the_place():
    one = made(multiPoint=enabled(NodeAffinity=50))
    assert filters(one) == DEFAULT_FILTERS
    assert scores(one) == DEFAULT_SCORES | {"NodeAffinity": 50}


def test_a_weight_at_the_score_wins_over_one_for_every_point():
    one = made(multiPoint=enabled(NodeAffinity=50), score=enabled(NodeAffinity=60))
    assert scores(one)["NodeAffinity"] == 60


@pytest.mark.parametrize("point", ["multiPoint", "score"])
def test_enabled_without_a_weight_it_is_one(point):
    """Also if it is more by default; that is what kube-scheduler does."""
    assert scores(made(**{point: enabled("TaintToleration")}))["TaintToleration"] == 1


def test_what_is_enabled_at_one_point_comes_first_there_if_it_is_enabled_everywhere():
    one = made(filter=enabled("InterPodAffinity", "NodePorts"))
    first = ["InterPodAffinity", "NodePorts"]
    assert filters(one) == [*first, *without(DEFAULT_FILTERS, *first)]


def test_what_is_enabled_at_one_point_only_comes_last_there():
    one = made(multiPoint=disabled("NodePorts"), filter=enabled("NodePorts"))
    assert filters(one) == [*without(DEFAULT_FILTERS, "NodePorts"), "NodePorts"]


def test_what_is_disabled_and_enabled_at_one_point_comes_last():
    one = made(filter=disabled("NodePorts") | enabled("NodePorts"))
    assert filters(one) == [*without(DEFAULT_FILTERS, "NodePorts"), "NodePorts"]


def test_preconditions_go_with_their_filters():
    assert "VolumeBinding" in [rule.name for rule in DEFAULT_PROFILE.preconditions]
    one = made(filter=disabled("VolumeBinding"))
    assert "VolumeBinding" not in [rule.name for rule in one.preconditions]
    assert "VolumeBinding" in scores(one)


def test_names_of_nodes_count_first_wherever_node_affinity_stands():
    one = made(filter=enabled("InterPodAffinity"))
    assert [rule.name for rule in one.narrowings] == ["NodeAffinity"]
    assert not made(filter=disabled("NodeAffinity")).narrowings


@pytest.mark.parametrize(
    ("points", "preempts"),
    [
        ({}, True),
        ({"multiPoint": disabled("*")}, False),
        ({"multiPoint": disabled("DefaultPreemption")}, False),
        ({"postFilter": disabled("*")}, False),
        ({"postFilter": disabled("DefaultPreemption")}, False),
        ({"multiPoint": disabled("*"), "postFilter": enabled("DefaultPreemption")}, True),
        ({"multiPoint": disabled("*") | enabled("DefaultPreemption")}, True),
    ],
)
def test_preemption_may_be_disabled(points, preempts):
    assert made(**points).preempts is preempts


def test_profiles_do_not_change_the_default_one():
    made(multiPoint=enabled(NodeAffinity=50))
    assert scores(DEFAULT_PROFILE) == DEFAULT_SCORES
