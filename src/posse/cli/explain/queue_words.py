"""The place of a group or a pod in the queue, in words."""

from posse.cli.explain.forecast_words import clock
from posse.cli.explain.group_words import groups, pods
from posse.engine.explain.queue_order import Ahead
from posse.engine.forecast.forecast import Forecast
from posse.engine.reporting.messages import counted


def queue_text(ahead: Ahead, *, is_blocked: bool) -> str:
    """Entries ahead of it do not block it, unless capacity is reserved against it."""
    if ahead.rivals:
        others = counted(ahead.rivals, "other")
        return f"by expected work among {others} of its priority; only its scheduler knows its place"
    counts = _counts(ahead)
    return f"{counts} ahead of it{'' if is_blocked else ', not blocking it'}" if counts else "first"


def published_place(forecast: Forecast | None, now: float) -> str:
    """As its scheduler has written it; empty if it has not, since age tells the place."""
    if forecast is None or forecast.ahead is None:
        return ""
    counts = _counts(forecast.ahead)
    place = f"{counts} ahead of it" if counts else "first"
    return f"{place} at {clock(forecast.made_at, now)}, by expected work"


def _counts(ahead: Ahead) -> str:
    told = ((ahead.groups, groups(ahead.groups)), (ahead.pods, pods(ahead.pods)))
    return " and ".join(text for number, text in told if number)
