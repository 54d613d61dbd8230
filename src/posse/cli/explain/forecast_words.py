"""Forecasts in words, in the time of this machine."""

from datetime import datetime

from posse.engine.forecast.forecast import AwaitedEnd, Unforeseen
from posse.engine.forecast.forecast_note import ForecastNote
from posse.model.timestamps import parse_timestamp

_UNFORESEEN = {
    Unforeseen.RUN_TIMES: "unknown: nothing says how long what is in its way runs",
    Unforeseen.NODES: "not on the nodes there are, even if nothing else ran there",
}


def starts_cell(forecast: ForecastNote | None, now: float) -> str:
    """For a table."""
    if forecast is None:
        return "-"
    if not forecast.earliest:
        return "never" if forecast.unforeseen is Unforeseen.NODES else "unknown"
    earliest, latest = _band(forecast, now)
    return earliest if earliest == latest else f"{earliest} to {latest}"


def starts_text(forecast: ForecastNote, now: float, namespace: str) -> str:
    if not forecast.earliest:
        return _UNFORESEEN[forecast.unforeseen or Unforeseen.RUN_TIMES]
    earliest, latest = _band(forecast, now)
    bound = clock(parse_timestamp(forecast.not_before), now)
    text = f"between {earliest} and {latest} (80 %), not before {bound}"
    if forecast.waits_for is None:
        return text
    return f"{text}; waits for the end of {awaited_text(forecast.waits_for, namespace)}"


def _band(forecast: ForecastNote, now: float) -> tuple[str, str]:
    earliest = max(parse_timestamp(forecast.earliest), now)
    return clock(earliest, now), clock(parse_timestamp(forecast.latest), now)


def awaited_text(awaited: AwaitedEnd, namespace: str) -> str:
    where = "" if awaited.namespace == namespace else f" in namespace {awaited.namespace}"
    waits = ", which waits too" if awaited.is_waiting else ""
    return f"{awaited.kind}/{awaited.name}{where}{waits}"


def clock(moment: float, now: float) -> str:
    """The time of day, with the date where it is another day."""
    try:
        then, today = datetime.fromtimestamp(moment).astimezone(), datetime.fromtimestamp(now).astimezone()
    except (OverflowError, ValueError, OSError):
        return "in the far future"
    if then.date() == today.date():
        return f"{then:%H:%M}"
    return f"{then:%d %b %H:%M}" if then.year == today.year else f"{then:%d %b %Y}"
