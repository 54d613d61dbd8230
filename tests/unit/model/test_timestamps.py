import pytest

from posse.model.timestamps import TimestampError, format_micro_timestamp, format_timestamp, parse_timestamp


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0.0),
        ("2026-01-31T12:00:00Z", 1769860800.0),
        ("2026-01-31T12:00:00.25Z", 1769860800.25),
        ("2026-01-31T12:00:00.000001Z", 1769860800.000001),
        ("2026-01-31T12:00:00.123456789Z", 1769860800.123456),
        ("2026-01-31T13:30:00+01:30", 1769860800.0),
        ("1969-12-31T23:59:59Z", -1.0),
    ],
)
def test_times_are_read_as_seconds_since_the_epoch(text, seconds):
    assert parse_timestamp(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-01-31",
        "20260131T120000Z",
        "2026-01-31T12:00:00",
        "2026-02-30T12:00:00Z",
        "2026-W05-6",
    ],
)
def test_what_is_no_time_is_refused_by_name(text):
    with pytest.raises(TimestampError, match="is not a time") as caught:
        parse_timestamp(text)
    assert repr(text) in str(caught.value)


def test_whole_seconds_are_cut_off_not_rounded():
    assert format_timestamp(1769860800.999) == "2026-01-31T12:00:00Z"


def test_micro_times_always_have_six_digits():
    assert format_micro_timestamp(1769860800) == "2026-01-31T12:00:00.000000Z"
    assert format_micro_timestamp(1769860800.25) == "2026-01-31T12:00:00.250000Z"


@pytest.mark.parametrize("seconds", [0.0, 1769860800.000001, 1769860800.999999, 4102444800.5])
def test_micro_times_survive_a_round_trip(seconds):
    assert parse_timestamp(format_micro_timestamp(seconds)) == seconds
