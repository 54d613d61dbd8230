from posse.controllers.event_expiry import expired_events, last_observed
from posse.model.timestamps import format_micro_timestamp, format_timestamp

NOW = 1_800_000_000.0


def event(name, age, **times):
    return {
        "metadata": {"namespace": "default", "name": name, "creationTimestamp": format_timestamp(NOW - age)},
        **times,
    }


def names(events):
    return [item["metadata"]["name"] for item in events]


def test_events_older_than_an_hour_go_oldest_first():
    events = [event("new", 10), event("old", 3700), event("older", 9000), event("edge", 3600)]
    assert names(expired_events(events, NOW, 10)) == ["older", "old"]


def test_an_event_observed_again_stays():
    recent = format_timestamp(NOW - 5)
    events = [
        event("counted", 9000, lastTimestamp=recent),
        event("micro", 9000, eventTime=format_micro_timestamp(NOW - 5), lastTimestamp=None),
        event("series", 9000, series={"count": 2, "lastObservedTime": recent}),
        event("gone", 9000, series=None, lastTimestamp="garbage"),
    ]
    assert names(expired_events(events, NOW, 10)) == ["gone"]


def test_one_sweep_is_bounded():
    events = [event(f"e{number}", 4000 + number) for number in range(20)]
    assert names(expired_events(events, NOW, 3)) == ["e19", "e18", "e17"]


def test_the_latest_time_counts():
    assert last_observed(event("e", 100, lastTimestamp=format_timestamp(NOW - 7))) == NOW - 7
