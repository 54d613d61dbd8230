"""Preferences of groups as `posse explain` and `posse gangs` show them: as far as they are in force."""

import pytest

from posse.cli.explain.group_line import GroupLine
from posse.cli.explain.group_table import table
from posse.cli.explain.preference_words import preference_facts
from posse.engine.groups.annotations import MINIMUM_RUN_TIME, PREFERRED_TOPOLOGY
from posse.engine.keys import GroupKey
from tests.support.builders import NAMESPACE, changed, gang, nodes, pods
from tests.support.engine_driver import Driver

TOPOLOGY = {"example.com/block": "b1", "example.com/rack": "r1"}


def facts(driver):
    return preference_facts(driver.engine.explain(GroupKey(NAMESPACE, "g1")).situation)


def driver_of(annotations, *, starts=True):
    driver = Driver(*nodes(2, cpu="1", labels=TOPOLOGY))
    driver.now = 1_000_000.25
    driver.see(changed(gang(minimum=2), metadata={"annotations": annotations}))
    members = pods(2, cpu="1" if starts else "9", group="g1")
    driver.see(*members)
    driver.bind_and_confirm(*members)
    driver.decide()
    return driver


def test_a_group_without_preferences_has_no_line():
    assert facts(driver_of({})) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("example.com/rack", "one example.com/rack"),
        ("example.com/block, example.com/rack", "one example.com/rack, else one example.com/block"),
        ("example.com/room, example.com/rack", "one example.com/rack"),
    ],
)
def test_the_narrowest_label_is_preferred_and_those_that_no_node_has_are_not_shown(text, shown):
    assert facts(driver_of({PREFERRED_TOPOLOGY: text})) == [("preferred topology", shown)]


def test_preferences_of_which_none_is_in_force_have_no_line():
    assert facts(driver_of({PREFERRED_TOPOLOGY: "example.com/room", MINIMUM_RUN_TIME: "soon"})) == []


def test_a_minimum_run_time_is_shown_with_the_end_of_the_protection():
    assert facts(driver_of({MINIMUM_RUN_TIME: "30m"}, starts=False)) == [
        ("minimum run time", "30m from its start")
    ]
    driver = driver_of({MINIMUM_RUN_TIME: "30m"})
    # The first moment of protection was 13:46:40.25 in UTC.
    assert facts(driver) == [("minimum run time", "30m, protected until 14:16:41Z")]
    driver.decide(after=1801)
    assert facts(driver) == [("minimum run time", "30m, now over: it may be preempted")]


def test_a_minimum_run_time_beyond_the_most_is_shown_as_it_counts():
    [(_, text)] = facts(driver_of({MINIMUM_RUN_TIME: "5h"}))
    assert text == "60m (the most that counts), protected until 14:46:41Z"


def line(**fields):
    return GroupLine("default", "night", "native", "Scheduled", "Gang", 2, 2, 2, "", "", **fields)


def test_the_table_has_columns_for_preferences_where_a_group_has_them():
    [header, row] = table([line()], 0.0, with_namespace=False, wide=False)
    assert not {"PREFERS", "PROTECTED"} & set(header.split())
    stated = line(preferred_topology=("example.com/block", "rack"), protected_until="2026-11-18T14:05:30Z")
    header, row = table([stated], 0.0, with_namespace=False, wide=False)
    assert {"PREFERS", "PROTECTED"} <= set(header.split())
    assert "block,rack   until 14:05:30Z" in row
