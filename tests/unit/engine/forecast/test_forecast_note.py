"""Forecasts as text on objects, which anybody may write."""

import pytest

from posse.engine.explain.queue_order import Ahead
from posse.engine.forecast.forecast import AwaitedEnd, Forecast, Unforeseen
from posse.engine.forecast.forecast_note import note_text, read_forecast


@pytest.mark.parametrize(
    "forecast",
    [
        Forecast(1e9, 1e9 + 60, 1e9 + 3600, AwaitedEnd("podgroup", "team", "x", is_waiting=True)),
        Forecast(1e9, unforeseen=Unforeseen.NODES),
        Forecast(1e9, 1e9 + 60, 1e9 + 3600, ahead=Ahead(2, 0)),
    ],
)
def test_a_forecast_is_read_as_it_was_written(forecast):
    assert read_forecast(note_text(forecast)) == forecast


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "null",
        '{"notBefore": "soon"}',
        '{"notBefore": "2026-01-01T00:00:00Z", "earliest": "2026-01-01T00:00:00Z"}',
        '{"notBefore": "2026-01-01T00:00:00Z", "unforeseen": "magic"}',
        '{"notBefore": "2026-01-01T00:00:00Z", "ahead": {"pods": "many", "groups": 0}}',
    ],
)
def test_other_text_is_no_forecast(text):
    assert read_forecast(text) is None
