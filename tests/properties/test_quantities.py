"""Quantities against a slow twin that does the same arithmetic with exact fractions and no shortcuts."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from posse.model.quantity import INT64_MAX, INT64_MIN, canonical, milli_value, parse_quantity, value

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}

digits = st.text("0123456789", min_size=1, max_size=25)
numbers = st.one_of(
    digits, st.builds("{}.{}".format, digits, digits), digits.map(".{}".format), digits.map("{}.".format)
)
exponents = st.builds("{}{}".format, st.sampled_from(["e", "E"]), st.integers(-40, 40))
suffixes = st.one_of(st.sampled_from([*DECIMAL, *BINARY]), exponents)
quantities = st.builds("{}{}{}".format, st.sampled_from(["", "+", "-"]), numbers, suffixes)


def away_from_zero(number: Fraction) -> int:
    return math.ceil(number) if number > 0 else math.floor(number)


def factor_of(suffix: str) -> Fraction:
    if suffix in BINARY:
        return Fraction(1024) ** BINARY[suffix]
    if suffix in DECIMAL:
        return Fraction(10) ** DECIMAL[suffix]
    return Fraction(10) ** int(suffix[1:])


def exact(text: str) -> Fraction:
    """What the quantity is worth: rounded to nanos, binary ones capped."""
    number = text.rstrip("KMGTPEinumke")
    if (at := max(number.find("e"), number.find("E"))) >= 0:
        number = number[:at]
    suffix = text[len(number) :]
    sign, body = (-1, number[1:]) if number.startswith("-") else (1, number.removeprefix("+"))
    whole, _, fraction = body.partition(".")
    amount = Fraction(int(whole + fraction or "0"), 10 ** len(fraction)) * factor_of(suffix)
    amount = Fraction(away_from_zero(amount * 10**9), 10**9)
    if suffix in BINARY:
        amount = min(amount, Fraction(INT64_MAX))
    return sign * amount


def saturated(number: int) -> int:
    return max(INT64_MIN, min(INT64_MAX, number))


@given(quantities)
def test_parsed_quantities_are_exact(text):
    parsed = parse_quantity(text)
    assert parsed.mantissa * Fraction(10) ** parsed.exponent == exact(text)


@given(quantities)
def test_units_and_thousandths_are_the_ceiling_of_the_exact_value(text):
    assert value(text) == saturated(away_from_zero(exact(text)))
    assert milli_value(text) == saturated(away_from_zero(exact(text) * 1000))


@given(quantities)
def test_the_canonical_form_is_worth_the_same_and_is_its_own_canonical_form(text):
    printed = canonical(text)
    assert exact(printed) == exact(text)
    assert canonical(printed) == printed


@given(quantities)
def test_the_canonical_form_is_as_short_as_its_suffixes_allow(text):
    printed = canonical(text)
    assert "." not in printed
    assert "+" not in printed
    number = printed.rstrip("KMGTPEinumke")
    if printed.endswith("i"):
        assert int(number) % 1024 != 0 or printed.endswith("Ei")
    elif printed != "0":
        mantissa = printed.split("e")[0].rstrip("numkMGTPE")
        assert not mantissa.endswith("000")


@given(st.integers(-(10**30), 10**30))
def test_json_integers_are_themselves(number):
    assert value(number) == saturated(number)
    assert value(str(number)) == value(number)


@given(st.floats(min_value=0, max_value=1e15))
def test_json_numbers_are_read_as_they_are_written(number):
    assert value(number) == value(repr(number))


@given(quantities, quantities)
def test_order_is_kept(left, right):
    if exact(left) <= exact(right):
        assert value(left) <= value(right)
        assert milli_value(left) <= milli_value(right)
