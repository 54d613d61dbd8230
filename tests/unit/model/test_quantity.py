import pytest

from posse.model.quantity import (
    INT64_MAX,
    INT64_MIN,
    QuantityError,
    canonical,
    milli_value,
    nano_value,
    value,
)


@pytest.mark.parametrize(
    ("raw", "units", "thousandths"),
    [
        ("0", 0, 0),
        ("1", 1, 1000),
        (2, 2, 2000),
        (0.5, 1, 500),
        ("500m", 1, 500),
        ("1.5", 2, 1500),
        (".5", 1, 500),
        ("5.", 5, 5000),
        ("+3", 3, 3000),
        ("100n", 1, 1),
        ("250u", 1, 1),
        ("1k", 1000, 10**6),
        ("2M", 2 * 10**6, 2 * 10**9),
        ("3G", 3 * 10**9, 3 * 10**12),
        ("1Ki", 1024, 1024000),
        ("1.5Gi", 1610612736, 1610612736000),
        ("0.1Ki", 103, 102400),
        ("1Ei", 2**60, INT64_MAX),
        ("1E", 10**18, INT64_MAX),
        ("1E3", 1000, 10**6),
        ("1e3", 1000, 10**6),
        ("12e+6", 12 * 10**6, 12 * 10**9),
        ("2e-3", 1, 2),
        (" 4Mi ", 4 * 2**20, 4 * 2**20 * 1000),
        (1e22, INT64_MAX, INT64_MAX),
    ],
)
def test_units_and_thousandths(raw, units, thousandths):
    assert value(raw) == units
    assert milli_value(raw) == thousandths


def test_billionths_are_exact_and_vast_exponents_cost_nothing():
    assert [nano_value(raw) for raw in ("1n", "-500m", "1Ki", "1e30")] == [
        1,
        -5 * 10**8,
        1024 * 10**9,
        10**39,
    ]
    assert nano_value("1e999999999") == 10**109
    assert nano_value("1" + "0" * 900) == nano_value("1e101") == 10**109
    assert nano_value("-1e300") == -(10**109)


def test_rounding_goes_away_from_zero():
    assert (value("-1.1"), milli_value("-1.0001")) == (-2, -1001)
    assert (value("1.1"), milli_value("1.0001")) == (2, 1001)


def test_what_is_finer_than_a_nano_counts_as_a_nano():
    assert canonical("0.0000000001") == "1n"
    assert canonical("1e-400") == "1e-9"
    assert canonical("-0.1n") == "-1n"


def test_values_beyond_int64_saturate():
    assert value("100E") == INT64_MAX
    assert value("-100E") == INT64_MIN
    assert value("8Ei") == INT64_MAX
    assert value("-8Ei") == -INT64_MAX  # Binary quantities are capped at this magnitude when they are read.
    assert milli_value("1e2000000000") == INT64_MAX


@pytest.mark.parametrize("raw", ["m", "+", "-", ".", "Ki", "e3"])
def test_missing_digits_read_as_zero_as_in_kubernetes(raw):
    assert (value(raw), canonical(raw)) == (0, "0")


@pytest.mark.parametrize(
    ("raw", "printed"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0.0Ki", "0"),
        ("1", "1"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("1.5", "1500m"),
        ("1.234", "1234m"),
        ("0.25", "250m"),
        ("1000m", "1"),
        ("1.2345", "1234500u"),
        ("1000000k", "1G"),
        ("1000E", "1e21"),
        ("1.5Gi", "1536Mi"),
        ("1024Ki", "1Mi"),
        ("1025Ki", "1025Ki"),
        ("1000Ki", "1000Ki"),
        ("0.5Ki", "512"),
        ("0.5Mi", "512Ki"),
        ("1.1Ki", "1126400m"),
        ("0.0001Ki", "102400u"),
        ("-2048Ki", "-2Mi"),
        ("8Ei", "9223372036854775807"),
        ("12e6", "12e6"),
        ("12000e3", "12e6"),
        ("1E3", "1e3"),
        ("1e0", "1"),
        ("1500e-3", "1500e-3"),
        ("+5", "5"),
        (0.1, "100m"),
        (7, "7"),
    ],
)
def test_canonical_form(raw, printed):
    assert canonical(raw) == printed
    assert canonical(printed) == printed


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "expected a number and a suffix"),
        ("abc", "the suffix 'abc' is none of"),
        ("1e", "the suffix 'e' is none of"),
        ("1KI", "the suffix 'KI' is none of"),
        ("1mm", "the suffix 'mm' is none of"),
        ("1i", "the suffix 'i' is none of"),
        ("1.1.1", "expected a number and a suffix"),
        ("1 Gi", "expected a number and a suffix"),
        ("1e3m", "expected a number and a suffix"),
        ("1e-", "expected a number and a suffix"),
        ("--1", "expected a number and a suffix"),
        ("1_000", "expected a number and a suffix"),
        ("٣", "expected a number and a suffix"),
        ("1e99999999999", "the exponent 99999999999 is out of range"),
        ("9" * 5000, "it is longer than 1000 characters"),
        (float("inf"), "the suffix 'inf' is none of"),
    ],
)
def test_what_is_no_quantity_is_refused_with_its_text(raw, reason):
    with pytest.raises(QuantityError, match="is not a quantity") as caught:
        value(raw)
    assert reason in str(caught.value)
    assert str(raw)[:64] in str(caught.value)
