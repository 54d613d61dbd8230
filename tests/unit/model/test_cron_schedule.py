"""When the times of a schedule come."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from posse.model.cron_schedule import ScheduleError, parse_schedule

UTC = ZoneInfo("Etc/UTC")
BERLIN = ZoneInfo("Europe/Berlin")


def moment(text, zone=UTC):
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


# 2026-01-01 is a Thursday.
NEXT = {
    "* * * * *": "2026-01-01 10:31",
    "*/15 * * * *": "2026-01-01 10:45",
    "5 * * * *": "2026-01-01 11:05",
    "30 10 * * *": "2026-01-02 10:30",
    "0 9-17/4 * * *": "2026-01-01 13:00",
    "0 0 1 * *": "2026-02-01 00:00",
    "0 0 29 2 *": "2028-02-29 00:00",
    "0 0 * * mon": "2026-01-05 00:00",
    "0 0 * JAN,MAR FRI-SAT": "2026-01-02 00:00",
    "0 0 15 * mon": "2026-01-05 00:00",
    "0 0 ? * 0": "2026-01-04 00:00",
    "10/20 * * * *": "2026-01-01 10:50",
    "@hourly": "2026-01-01 11:00",
    "@weekly": "2026-01-04 00:00",
    "@every 1h30m": "2026-01-01 12:00",
}


@pytest.mark.parametrize("text", NEXT)
def test_the_next_time(text):
    assert parse_schedule(text).next_time(moment("2026-01-01 10:30"), UTC) == moment(NEXT[text])


def test_a_time_in_a_zone():
    found = parse_schedule("0 9 * * *").next_time(moment("2026-07-01 00:00"), BERLIN)
    assert found == moment("2026-07-01 07:00")


def test_an_hour_that_does_not_exist_is_left_out():
    """On 2026-03-29 clocks in Berlin go from 2 to 3."""
    found = parse_schedule("30 2 * * *").next_time(moment("2026-03-28 12:00", BERLIN), BERLIN)
    assert found == moment("2026-03-30 02:30", BERLIN)


def test_a_day_that_never_comes():
    assert parse_schedule("0 0 30 2 *").next_time(moment("2026-01-01 00:00"), UTC) is None


@pytest.mark.parametrize(
    ("text", "after", "until", "expected"),
    [
        ("* * * * *", "2020-01-01 00:00", "2026-01-01 10:30", "2026-01-01 10:30"),
        ("0 0 * * *", "2020-01-01 00:00", "2026-01-01 10:30", "2026-01-01 00:00"),
        ("0 0 1 6 *", "2020-01-01 00:00", "2026-01-01 10:30", "2025-06-01 00:00"),
        ("0 0 * * *", "2026-01-01 00:00", "2026-01-01 10:30", None),
        ("@every 40m", "2026-01-01 09:00", "2026-01-01 10:30", "2026-01-01 10:20"),
        ("@every 2h", "2026-01-01 09:00", "2026-01-01 10:30", None),
    ],
)
def test_the_last_time(text, after, until, expected):
    found = parse_schedule(text).last_time(moment(after), moment(until), UTC)
    assert found == (moment(expected) if expected else None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("* * *", "expected exactly 5 fields, found 3"),
        ("60 * * * *", "above maximum"),
        ("* * 0 * *", "below minimum"),
        ("5-1 * * * *", "beyond end of range"),
        ("*/0 * * * *", "positive number"),
        ("x * * * *", "failed to parse int"),
        ("@sometimes", "unrecognized descriptor"),
        ("@every soon", "failed to parse duration"),
    ],
)
def test_what_cannot_be_read(text, problem):
    with pytest.raises(ScheduleError, match=problem):
        parse_schedule(text)
