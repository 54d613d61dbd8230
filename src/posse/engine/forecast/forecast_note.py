"""A forecast as text: an annotation on the group's object, and what programs are shown."""

import msgspec

from posse.engine.explain.queue_order import Ahead
from posse.engine.forecast.forecast import AwaitedEnd, Forecast, Unforeseen
from posse.engine.forecast.forecast_problem import LearnedRunTime
from posse.model.timestamps import TimestampError, format_timestamp, parse_timestamp

FORECAST = "scheduling.posse.dev/forecast"
"""On a group that waits: when its scheduler expects it to start, as JSON."""


class ForecastNote(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    not_before: str
    """When the forecast was made."""
    earliest: str = ""
    """Four of five starts are between this and the latest; empty where nothing is foreseen."""
    latest: str = ""
    waits_for: AwaitedEnd | None = None
    unforeseen: Unforeseen | None = None
    learned: LearnedRunTime | None = None
    ahead: Ahead | None = None


def note_of(forecast: Forecast) -> ForecastNote:
    earliest, latest = forecast.earliest, forecast.latest
    return ForecastNote(
        format_timestamp(forecast.made_at),
        format_timestamp(earliest) if earliest is not None else "",
        format_timestamp(latest) if latest is not None else "",
        forecast.waits_for,
        forecast.unforeseen,
        forecast.learned,
        forecast.ahead,
    )


def note_text(forecast: Forecast) -> str:
    return msgspec.json.encode(note_of(forecast)).decode()


def read_forecast(text: str) -> Forecast | None:
    """The forecast; None if the text is not one, as users may write annotations."""
    try:
        note = msgspec.json.decode(text, type=ForecastNote)
        earliest, latest = (parse_timestamp(one) if one else None for one in (note.earliest, note.latest))
        made_at = parse_timestamp(note.not_before)
    except (msgspec.DecodeError, TimestampError):
        return None
    if (earliest is None) != (latest is None):
        return None
    return Forecast(made_at, earliest, latest, note.waits_for, note.unforeseen, note.learned, note.ahead)
