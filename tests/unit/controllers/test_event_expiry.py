import msgspec

from posse.controllers import event_expiry
from posse.controllers.event_expiry import ALL_EVENTS, SWEEP_SECONDS, EventExpiry, last_observed
from posse.kinds.registry import EVENT
from posse.model.timestamps import format_micro_timestamp, format_timestamp
from tests.support.plans import steps_of

NOW = 1_800_000_000.0


def event(name, age, **times):
    created = format_timestamp(NOW - age)
    metadata = {"namespace": "default", "name": name, "uid": name, "creationTimestamp": created}
    return {"metadata": metadata, **times}


def expiry_of(*events):
    expiry = EventExpiry()
    for each in events:
        expiry.see(EVENT, each)
    return expiry


def expired(expiry, now=NOW):
    return [step.obj["metadata"]["name"] for step in steps_of(expiry.plan(ALL_EVENTS, now))]


def test_events_older_than_an_hour_go_oldest_first():
    expiry = expiry_of(event("new", 10), event("old", 3700), event("older", 9000), event("edge", 3600))
    assert expired(expiry) == ["older", "old"]
    assert expired(expiry) == []
    assert expired(expiry, NOW + 3591) == ["edge", "new"]


def test_an_event_that_carries_a_later_time_stays():
    recent = format_timestamp(NOW - 5)
    expiry = expiry_of(
        event("counted", 9000, lastTimestamp=recent),
        event("micro", 9000, eventTime=format_micro_timestamp(NOW - 5), lastTimestamp=None),
        event("series", 9000, series={"count": 2, "lastObservedTime": recent}),
        event("gone", 9000, series=None, lastTimestamp="garbage"),
    )
    assert expired(expiry) == ["gone"]


def test_an_event_observed_again_goes_by_its_new_time():
    expiry = expiry_of(event("e", 9000), event("e", 9000, lastTimestamp=format_timestamp(NOW - 5)))
    assert expired(expiry) == []
    assert expired(expiry, NOW + 3600) == ["e"]


def test_what_is_gone_or_going_is_not_deleted_again():
    gone, going = event("gone", 9000), event("going", 9000)
    expiry = expiry_of(gone, going)
    expiry.lose(EVENT, gone)
    going["metadata"]["deletionTimestamp"] = format_timestamp(NOW)
    expiry.see(EVENT, going)
    assert expired(expiry) == []


def test_one_plan_is_bounded_and_the_next_goes_on(monkeypatch):
    monkeypatch.setattr(event_expiry, "MAX_DELETED_AT_ONCE", 3)
    expiry = expiry_of(*(event(f"e{number}", 4000 + number) for number in range(5)))
    assert expired(expiry) == ["e4", "e3", "e2"]
    assert expired(expiry) == ["e1", "e0"]


def test_old_events_that_are_left_come_at_once_and_others_are_looked_for_later(monkeypatch):
    monkeypatch.setattr(event_expiry, "MAX_DELETED_AT_ONCE", 1)
    expiry = expiry_of(event("a", 4000), event("b", 4000))
    assert expiry.touched.take(9) == [ALL_EVENTS]
    assert expiry.plan(ALL_EVENTS, NOW).wake_at == NOW
    assert expiry.plan(ALL_EVENTS, NOW).wake_at == NOW + SWEEP_SECONDS


def test_events_that_are_too_large_together_go_oldest_first_and_at_once(monkeypatch):
    size = len(msgspec.json.encode(event("e0", 100)))
    monkeypatch.setattr(event_expiry, "MAX_BYTES", 3 * size)
    expiry = expiry_of(*(event(f"e{number}", 100 + number) for number in range(3)))
    expiry.touched.take(9)
    expiry.see(EVENT, event("e0", 100))
    assert expiry.touched.take(9) == []
    expiry.see(EVENT, event("e3", 50))
    assert expiry.touched.take(9) == [ALL_EVENTS]
    assert expired(expiry) == ["e2"]
    expiry.lose(EVENT, event("e1", 101))
    expiry.see(EVENT, event("e4", 40))
    assert expired(expiry) == []


def test_the_latest_time_counts():
    assert last_observed(event("e", 100, lastTimestamp=format_timestamp(NOW - 7))) == NOW - 7
