"""Plugins may fail in any way; the engine says so and goes on."""

import numpy as np
import pytest

from posse.engine.options import EngineOptions
from posse.engine.rules.contract import GroupPlacement
from posse.engine.rules.plugin_guard import (
    GuardedClusterScore,
    GuardedFilterRule,
    GuardedGroupRule,
    GuardedRelativeScore,
    GuardedRowScore,
    GuardedScoreRule,
    PluginFaults,
)
from posse.engine.rules.profile import Profile
from tests.support.builders import SCHEDULER, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver, group_reports, pod_reports
from tests.support.rule_surroundings import Surroundings


def broken(*_):
    raise ZeroDivisionError("no power")


class Made:
    """Whatever a rule compiles to; every answer is given in the constructor."""

    is_row_local = True

    def __init__(self, **answers):
        for name, answer in answers.items():
            setattr(self, name, answer if callable(answer) else lambda *_, given=answer: given)


class Rule:
    name = "Outside"
    weight = 7

    def __init__(self, made=None, **answers):
        self._made = made or Made(**answers)

    def compile(self, scheduling_class, context):
        return self._made() if callable(self._made) else self._made


def told(profile, *objects):
    """The reports on pods, and the faults."""
    faults = PluginFaults()
    driving = Driver(*objects, options=EngineOptions({SCHEDULER: profile(faults)}, faults=faults))
    return driving.decide(), driving.engine.take_faults()


def filtered(rule):
    return lambda faults: Profile(filters=(GuardedFilterRule(rule, faults),))


@pytest.mark.parametrize(
    "rule",
    [
        Rule(made=broken),
        Rule(passes=broken, unresolvable=broken),
        Rule(
            passes=lambda rows: np.zeros(64, dtype=bool)[rows],
            refusals=broken,
            unresolvable=lambda rows: np.zeros(64, dtype=bool)[rows],
        ),
    ],
    ids=["when-compiled", "when-asked", "when-asked-why"],
)
def test_a_filter_that_raises_refuses_by_name(rule):
    decisions, faults = told(filtered(rule), node(), pod())
    fault = "plugin Outside failed: ZeroDivisionError: no power"
    assert f"0/1 nodes are available: 1 {fault}." in pod_reports(decisions)["p1"][1]
    assert faults == [fault]


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (np.ones(3, dtype=bool), "an array of bool of shape (3,) instead of booleans of shape (64,)"),
        (np.ones(64, dtype=int), "an array of int64 of shape (64,) instead of booleans of shape (64,)"),
        (None, "an array of object of shape () instead of booleans of shape (64,)"),
    ],
)
def test_a_filter_that_answers_something_else_refuses(answer, complaint):
    rule = Rule(passes=answer)
    _, faults = told(filtered(rule), node(), pod())
    assert f"plugin Outside failed: TypeError: {complaint}" in faults


def test_a_filter_that_does_not_say_whether_it_is_local_refuses():
    class Mute:
        pass

    _, faults = told(filtered(Rule(made=Mute())), node(), pod())
    assert faults == ["plugin Outside failed: AttributeError: 'Mute' object has no attribute 'is_row_local'"]


def test_what_a_broken_filter_refuses_no_eviction_mends():
    surroundings = Surroundings([node()])
    made = surroundings.compiled(
        GuardedFilterRule(Rule(passes=broken, unresolvable=broken), PluginFaults()), pod()
    )
    assert made.unresolvable(np.array([0])).tolist() == [True]


def test_a_sound_filter_is_left_alone():
    rule = Rule(
        passes=lambda rows: np.array([True, False])[rows],
        refusals=lambda rows: (("not this one", np.array([False, True])[rows]),),
        unresolvable=lambda rows: np.array([False, False])[rows],
    )
    made = Surroundings(nodes(2)).compiled(GuardedFilterRule(rule, PluginFaults()), pod())
    rows = np.array([0, 1])
    assert made.passes(rows).tolist() == [True, False]
    assert [(reason, holds.tolist()) for reason, holds in made.refusals(rows)] == [
        ("not this one", [False, True])
    ]
    assert made.unresolvable(rows).tolist() == [False, False]


def test_what_looks_at_descriptions_only_may_say_so():
    surroundings = Surroundings([node()])
    made = Made(passes=None, points=None)
    made.is_static = True
    filtering = surroundings.compiled(GuardedFilterRule(Rule(made=made), PluginFaults()), pod())
    scoring = surroundings.compiled(GuardedScoreRule(Rule(made=made), PluginFaults(), GuardedRowScore), pod())
    assert filtering.is_static
    assert scoring.is_static
    assert not surroundings.compiled(GuardedFilterRule(Rule(), PluginFaults()), pod()).is_static


def test_a_rule_may_have_nothing_to_say():
    guarded = GuardedFilterRule(Rule(made=lambda: None), PluginFaults())
    assert Surroundings([node()]).compiled(guarded, pod()) is None
    score = GuardedScoreRule(Rule(made=lambda: None), PluginFaults(), GuardedRowScore)
    assert Surroundings([node()]).compiled(score, pod()) is None


SCORES = {
    "row": (lambda f, r: Profile(row_scores=(GuardedScoreRule(r, f, GuardedRowScore),)), "points"),
    "cluster": (
        lambda f, r: Profile(cluster_scores=(GuardedScoreRule(r, f, GuardedClusterScore),)),
        "points",
    ),
    "relative": (
        lambda f, r: Profile(relative_scores=(GuardedScoreRule(r, f, GuardedRelativeScore),)),
        "normalised",
    ),
}


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (broken, "ZeroDivisionError: no power"),
        (np.full(64, 101), "ValueError: points from"),
        (np.full(64, -1), "ValueError: points from -1"),
        (np.full(64, 0.5), "TypeError: an array of float64"),
    ],
    ids=["raises", "too-many", "negative", "no-integers"],
)
def test_a_score_that_fails_gives_no_points_and_places_the_pod_all_the_same(kind, answer, complaint):
    profile, question = SCORES[kind]
    rule = Rule(**{"raw": np.arange(64), question: answer})
    decisions, faults = told(lambda collected: profile(collected, rule), node(), pod())
    assert pod_reports(decisions) == {}
    assert faults[0].startswith(f"plugin Outside failed: {complaint}")


@pytest.mark.parametrize("kind", SCORES)
def test_a_sound_score_decides(kind):
    profile, question = SCORES[kind]
    best_last = np.zeros(64, dtype=np.int64)
    best_last[1] = 100

    def answer(rows, *_):
        return best_last[rows] if isinstance(rows, slice) or rows.dtype != bool else best_last

    rule = Rule(**{"raw": answer, question: answer if kind == "row" else best_last})
    faults = PluginFaults()
    driving = Driver(*nodes(2), *pods(1), options=EngineOptions({SCHEDULER: profile(faults, rule)}))
    assert driving.bind() == {"p1": "n2"}
    assert faults.take() == []


@pytest.mark.parametrize("kind", SCORES)
def test_a_score_that_cannot_be_compiled_gives_no_points(kind):
    profile, _ = SCORES[kind]
    decisions, faults = told(lambda collected: profile(collected, Rule(made=broken)), node(), pod())
    assert pod_reports(decisions) == {}
    assert faults == ["plugin Outside failed: ZeroDivisionError: no power"]


def test_a_raw_measure_that_fails_counts_as_none():
    rule = Rule(raw=broken)
    guarded = GuardedScoreRule(rule, PluginFaults(), GuardedRelativeScore)
    made = Surroundings([node()]).compiled(guarded, pod())
    assert made.raw(np.array([0])).tolist() == [0]


class Grouping:
    name = "Outside"

    def __init__(self, answer):
        self._answer = answer

    def objection(self, placement, context):
        return self._answer(placement, context) if callable(self._answer) else self._answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("too far apart", "Outside: too far apart."),
        (broken, "Outside: plugin Outside failed: ZeroDivisionError: no power."),
    ],
    ids=["objects", "raises"],
)
def test_a_group_rule_that_objects_or_raises_keeps_the_group_waiting(answer, message):
    faults = PluginFaults()
    profile = Profile(group_rules=(GuardedGroupRule(Grouping(answer), faults),))
    driving = Driver(*nodes(2), gang(), *pods(2, group="g1"), options=EngineOptions({SCHEDULER: profile}))
    decisions = driving.decide()
    assert group_reports(decisions) == [("g1", False, "Unschedulable", message)]
    assert pod_reports(decisions)["p1"] == ("Unschedulable", f"pod group is unschedulable, {message}")


def test_a_group_rule_sees_where_all_members_would_be():
    seen: list[GroupPlacement] = []

    def look(placement, context):
        seen.append(placement)

    profile = Profile(group_rules=(GuardedGroupRule(Grouping(look), PluginFaults()),))
    there = pod("p0", group="g1", on="n2")
    everything = (*nodes(2), gang(minimum=3), there, *pods(2, group="g1"))
    driving = Driver(*everything, options=EngineOptions({SCHEDULER: profile}))
    assert driving.bind() == {"p1": "n1", "p2": "n2"}
    assert (seen[0].namespace, seen[0].name) == ("test", "g1")
    assert sorted(seen[0].rows.tolist()) == [0, 1, 1]


def test_the_same_fault_is_told_once():
    faults = PluginFaults()
    for _ in range(3):
        faults.note("A", ValueError("x"))
    faults.note("B", ValueError("x"))
    assert faults.take() == ["plugin A failed: ValueError: x", "plugin B failed: ValueError: x"]
    faults.note("A", ValueError("x"))
    assert faults.take() == []


def test_a_plugin_that_always_says_something_else_is_not_listened_to_for_ever():
    faults = PluginFaults()
    for number in range(2000):
        faults.note("A", ValueError(number))
    assert len(faults.take()) == 1000
