"""Plugins of installed packages: how they come into a profile, and why they may not."""

import numpy as np
import pytest

from posse.engine.rules.contract import (
    ClusterScoreRule,
    FilterRule,
    GroupRule,
    RelativeScoreRule,
    RowScoreRule,
)
from tests.support.builders import nodes, pod
from tests.support.configurations import (
    configured,
    disabled,
    enabled,
    filters,
    options,
    problems,
    profile,
    read,
    scores,
)
from tests.support.engine_driver import Driver


class Nowhere(FilterRule):
    name = "Nowhere"

    def __init__(self, arguments):
        self.arguments = arguments

    def compile(self, scheduling_class, context):
        return NowhereFilter(self.arguments.get("except", "n1"), context.nodes)


class NowhereFilter:
    is_row_local = True

    def __init__(self, exception, nodes):
        self._exception = exception
        self._nodes = nodes

    def passes(self, rows):
        return np.array([name == self._exception for name in self._padded()])[rows]

    def refusals(self, rows):
        return (("node(s) are nowhere", ~self.passes(rows)),)

    def unresolvable(self, rows):
        return ~self.passes(rows)

    def _padded(self):
        return self._nodes.names + [""] * (self._nodes.alive.size - len(self._nodes.names))


def score(protocol):
    class Score(protocol):
        name = "Score"
        weight = 3

        def __init__(self, arguments):
            pass

        def compile(self, scheduling_class, context):
            return None

    return Score


class Never(GroupRule):
    name = "Never"

    def __init__(self, arguments):
        pass

    def objection(self, placement, context):
        return "never"


PLUGINS = {"Nowhere": lambda: Nowhere, "Never": lambda: Never, "Score": lambda: score(RowScoreRule)}
EVERYWHERE = {"plugins": {"multiPoint": enabled("Nowhere")}}


def bound(shape):
    driving = Driver(*nodes(3), pod(), options=options(shape, plugins=PLUGINS))
    return driving.bind()


def test_a_plugin_is_named_like_any_other():
    assert bound(EVERYWHERE) == {"p1": "n1"}
    assert bound({"plugins": {"filter": enabled("Nowhere")}}) == {"p1": "n1"}


def test_a_plugin_has_its_arguments_as_they_stand_in_the_file():
    assert bound(EVERYWHERE | configured("Nowhere", **{"except": "n3"})) == {"p1": "n3"}


def test_a_plugin_that_is_not_enabled_is_not_even_loaded():
    def load():
        raise AssertionError

    assert filters(profile({}, plugins={"Nowhere": load})) == filters(profile({}))


def test_a_plugin_comes_behind_the_built_in_ones():
    assert filters(profile(EVERYWHERE, plugins=PLUGINS))[-1] == "Nowhere"


@pytest.mark.parametrize("protocol", [RowScoreRule, RelativeScoreRule, ClusterScoreRule])
@pytest.mark.parametrize(
    ("point", "entries"), [("multiPoint", enabled(Score=9)), ("score", enabled(Score=9))]
)
def test_scores_have_the_weight_of_the_file(protocol, point, entries):
    plugins = {"Score": lambda: score(protocol)}
    assert scores(profile({"plugins": {point: entries}}, plugins=plugins))["Score"] == 9


@pytest.mark.parametrize("point", ["multiPoint", "permit"])
def test_group_rules_are_enabled_everywhere_or_as_permits(point):
    made = profile({"plugins": {point: enabled("Never")}}, plugins=PLUGINS)
    assert [rule.name for rule in made.group_rules] == ["Never"]


def test_a_plugin_may_be_disabled_at_a_point():
    points = {"multiPoint": enabled("Nowhere"), "filter": disabled("Nowhere")}
    assert "Nowhere" not in filters(profile({"plugins": points}, plugins=PLUGINS))


def test_each_profile_has_a_plugin_of_its_own():
    profiles = [
        {"schedulerName": name} | EVERYWHERE | configured("Nowhere", **{"except": place})
        for name, place in (("a", "n2"), ("b", "n3"))
    ]
    driving = Driver(
        *nodes(3),
        pod("first", scheduler_name="a"),
        pod("second", scheduler_name="b"),
        options=options(*profiles, plugins=PLUGINS),
    )
    assert driving.bind() == {"first": "n2", "second": "n3"}


def raising():
    raise ImportError("no module named power")


class Demanding(Nowhere):
    def __init__(self, arguments):
        self.watts = arguments["watts"]


class Both(FilterRule, RowScoreRule):
    name = "Nowhere"


class Misnamed(Nowhere):
    name = "Somewhere"


class Nameless(FilterRule):
    def __init__(self, arguments):
        pass


class Weightless(RowScoreRule):
    name = "Nowhere"

    def __init__(self, arguments):
        pass


@pytest.mark.parametrize(
    ("load", "complaint"),
    [
        (raising, "cannot be loaded: ImportError: no module named power"),
        (lambda: 3, "is not a class; its entry point must name one"),
        (lambda: object, "must derive from exactly one of FilterRule, RowScoreRule, RelativeScoreRule, "),
        (lambda: Both, "must derive from exactly one of FilterRule, RowScoreRule, RelativeScoreRule, "),
        (lambda: Demanding, "does not accept its arguments: KeyError: 'watts'"),
        (lambda: Misnamed, "calls itself 'Somewhere'; its name attribute must be 'Nowhere'"),
        (lambda: Nameless, "calls itself None; its name attribute must be 'Nowhere'"),
        (lambda: Weightless, "has no weight; a score has one, for when the file gives none"),
    ],
)
def test_an_unusable_plugin_is_refused_by_name(load, complaint):
    ((path, message),) = problems(EVERYWHERE, plugins={"Nowhere": load}).items()
    assert path == "profiles[0].plugins"
    assert message.startswith(f"plugin Nowhere {complaint}")


def test_plugins_that_nobody_offers_are_refused_by_name():
    (message,) = problems(EVERYWHERE).values()
    assert message.startswith("there is no plugin 'Nowhere'; ")


def test_arguments_of_a_plugin_are_an_object():
    wrong = EVERYWHERE | {"pluginConfig": [{"name": "Nowhere", "args": [1]}]}
    assert problems(wrong, plugins=PLUGINS) == {"profiles[0].pluginConfig[0].args": "expected an object"}


def test_a_filter_is_no_score():
    wrong = {"plugins": {"score": enabled("Nowhere")}}
    assert problems(wrong, plugins=PLUGINS) == {
        "profiles[0].plugins.score.enabled[0].name": "Nowhere has no rule for this point; remove it"
    }


def test_a_plugin_with_the_name_of_a_built_in_one_is_ignored_with_a_notice():
    found = read({}, plugins={"NodePorts": lambda: Nowhere})
    assert found.notices == (
        "plugin NodePorts of an installed package is ignored; Kubernetes has its own NodePorts",
    )
