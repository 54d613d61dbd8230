"""Forecasts of groups: published ones are shown as they are, others are made."""

from dataclasses import replace

import pytest

from posse.cli.explain.group_line import lines_of
from posse.cli.explain.group_table import table
from posse.cli.explain.run import Asked, group_story
from posse.cli.reading.cluster_reader import survey_cluster
from posse.cli.reading.forecasts import forecasts_for, published_forecasts
from posse.cli.reading.owners import Owners
from posse.cli.ui.document import document_of
from posse.engine.explain.queue_order import Ahead
from posse.engine.forecast.forecast import Forecast
from posse.engine.forecast.forecast_note import FORECAST, note_text
from posse.engine.groups.annotations import EXPECTED_DURATION
from posse.engine.keys import GroupKey
from posse.engine.options import DEFAULT_SCHEDULER, EngineOptions
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.model.timestamps import format_timestamp
from tests.support.listed_objects import NOW, ListedObjects, gang, node, pod

KEY = GroupKey("team", "second")
PUBLISHED = Forecast(NOW, NOW + 600, NOW + 1200)


def annotated(group, key, text):
    group["metadata"]["annotations"] = {key: text}
    return group


def a_cluster(published="", lasts="1h"):
    """A node that the first gang has used for ten minutes, and a gang that waits for it."""
    second = gang("second", 1)
    running = pod("first-0", group="first", node_name="n1", gpus=8)
    started = format_timestamp(NOW - 600)
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": started}
    running["status"] = {"phase": "Running", "startTime": started, "conditions": [scheduled]}
    return ListedObjects(
        groups=[
            annotated(gang("first", 1), EXPECTED_DURATION, lasts),
            annotated(second, FORECAST, published) if published else second,
        ],
        nodes=[node("n1")],
        pods=[running, pod("second-0", group="second", gpus=8)],
    )


def surveyed(source, policy="priority-fifo"):
    profile = replace(DEFAULT_PROFILE, queue_policy=policy)
    survey = survey_cluster(source, EngineOptions({DEFAULT_SCHEDULER: profile}))
    return survey, Owners(survey, source, None)


def test_a_forecast_is_made_where_none_is_published():
    survey, _ = surveyed(a_cluster())
    forecast = forecasts_for(survey, NOW)[KEY]
    assert forecast.earliest < NOW + 3000 < forecast.latest
    assert forecast.waits_for.name == "first"


def test_a_published_forecast_is_shown_as_it_is():
    survey, _ = surveyed(a_cluster(note_text(PUBLISHED)))
    assert forecasts_for(survey, NOW) == published_forecasts(survey, NOW) == {KEY: PUBLISHED}


@pytest.mark.parametrize("text", ["nonsense", note_text(Forecast(NOW - 9000, NOW - 8000, NOW - 7000))])
def test_a_forecast_that_is_over_or_cannot_be_read_does_not_count(text):
    survey, _ = surveyed(a_cluster(text))
    assert published_forecasts(survey, NOW) == {}
    assert forecasts_for(survey, NOW)[KEY].latest > NOW


def test_the_table_has_a_column_and_the_explanation_a_line():
    source = a_cluster()
    survey, owners = surveyed(source)
    lines = list(lines_of(survey, owners, None, forecasts=forecasts_for(survey, NOW)))
    rows = table(lines, NOW, with_namespace=False, wide=False)
    assert "STARTS" in rows[0]
    assert [line.name for line in lines if line.forecast is not None] == ["second"]
    story = "\n".join(group_story(Asked(source, survey, owners, NOW), KEY))
    assert "waits for the end of podgroup/first" in story
    assert "not before" in story


def test_it_is_unknown_where_nothing_says_how_long_the_first_runs():
    source = a_cluster(lasts="soon")
    survey, owners = surveyed(source)
    story = "\n".join(group_story(Asked(source, survey, owners, NOW), KEY))
    assert "unknown: nothing says how long what is in its way runs" in story


def test_the_page_shows_what_is_published():
    survey, owners = surveyed(a_cluster(note_text(PUBLISHED)))
    gangs = document_of(survey, owners, NOW)["gangs"]
    (shown,) = (one["forecast"] for one in gangs.values() if one["name"] == "second")
    assert shown == {
        "notBefore": format_timestamp(NOW),
        "earliest": format_timestamp(NOW + 600),
        "latest": format_timestamp(NOW + 1200),
    }


@pytest.mark.parametrize(("lasts", "expected"), [("1h", NOW + 3000), ("5m", None), ("soon", None)])
def test_the_page_shows_when_a_group_is_expected_to_end_unless_that_is_over(lasts, expected):
    survey, owners = surveyed(a_cluster(lasts=lasts))
    shown = {one["name"]: one["expectedEnd"] for one in document_of(survey, owners, NOW)["gangs"].values()}
    assert shown == {"first": format_timestamp(expected) if expected else "", "second": ""}


def queued(published, policy):
    """The queue line of a gang beside another that waits, and the positions of both on the page."""
    source = a_cluster(published)
    source._objects["PodGroup"][1].append(gang("third", 1))
    source._objects["Pod"][1].append(pod("third-0", group="third", gpus=8))
    survey, owners = surveyed(source, policy)
    story = list(group_story(Asked(source, survey, owners, NOW), KEY))
    (line,) = (one.split(maxsplit=1)[1] for one in story if one.strip().startswith("queue "))
    gangs = document_of(survey, owners, NOW)["gangs"].values()
    return line, {one["name"]: one["position"] for one in gangs if one["isWaiting"]}


def test_by_age_a_place_is_told_without_the_scheduler():
    assert queued("", "backfill") == ("first", {"second": 1, "third": 2})


def test_by_expected_work_a_place_is_told_if_the_scheduler_has_written_it():
    line, positions = queued("", "shortest-expected")
    assert line == "by expected work among 1 other of its priority; only its scheduler knows its place"
    assert positions == {"second": 0, "third": 0}
    placed = note_text(Forecast(NOW, NOW + 600, NOW + 1200, ahead=Ahead(2, 1)))
    line, positions = queued(placed, "shortest-expected")
    assert line.startswith("1 group and 2 pods ahead of it at ")
    assert positions == {"second": 1, "third": 0}


def test_what_the_scheduler_has_written_counts_where_its_configuration_is_unknown():
    placed = note_text(Forecast(NOW, NOW + 600, NOW + 1200, ahead=Ahead(2, 1)))
    assert queued(placed, "priority-fifo")[0].startswith("1 group and 2 pods ahead of it at ")


def test_a_forecast_that_is_made_here_has_no_place():
    survey, _ = surveyed(a_cluster(), "shortest-expected")
    assert forecasts_for(survey, NOW)[KEY].ahead is None
