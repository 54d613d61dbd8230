"""Forecasts in the table of gangs, in explanations and plans."""

import time

import pytest

from posse.cli.explain.forecast_words import clock, starts_cell, starts_text
from posse.engine.forecast.forecast import AwaitedEnd, Forecast, Unforeseen
from posse.engine.forecast.forecast_note import note_of

NOW = time.mktime((2026, 3, 4, 13, 50, 0, 0, 0, -1))
BAND = Forecast(NOW, NOW + 900, NOW + 3000, AwaitedEnd("podgroup", "team", "x"))


def test_a_band_a_bound_and_what_decides_it():
    assert starts_cell(note_of(BAND), NOW) == "14:05 to 14:40"
    expected = "between 14:05 and 14:40 (80 %), not before 13:50; waits for the end of podgroup/x"
    assert starts_text(note_of(BAND), NOW, "team") == expected
    assert starts_text(note_of(BAND), NOW, "other") == f"{expected} in namespace team"


def test_a_band_that_has_begun_goes_on_from_now():
    assert starts_cell(note_of(BAND), NOW + 1800) == "14:20 to 14:40"


def test_what_waits_itself_is_named_so():
    waiting = Forecast(NOW, NOW, NOW, AwaitedEnd("pod", "team", "y", is_waiting=True))
    assert starts_text(note_of(waiting), NOW, "team").endswith("the end of pod/y, which waits too")


@pytest.mark.parametrize(("why", "cell"), [(Unforeseen.RUN_TIMES, "unknown"), (Unforeseen.NODES, "never")])
def test_nothing_is_foreseen(why, cell):
    note = note_of(Forecast(NOW, unforeseen=why))
    assert starts_cell(note, NOW) == cell
    assert "between" not in starts_text(note, NOW, "team")
    assert starts_cell(None, NOW) == "-"


def test_another_day_has_its_date():
    assert clock(NOW + 86400, NOW) == "05 Mar 13:50"
    assert clock(NOW + 400 * 86400, NOW) == "08 Apr 2027"
    assert clock(1e18, NOW) == "in the far future"
