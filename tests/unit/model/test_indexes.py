import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.model.indexes import Indexes, IndexesError, known_indexes, parse_indexes

MANY = 2_000_000_000


def those_of(indexes, below=40):
    return {index for index in range(below) if index in indexes}


@pytest.mark.parametrize(
    ("indexes", "text"),
    [([], ""), ([3], "3"), ([1, 2], "1,2"), ([0, 2, 3, 4], "0,2-4"), ([0, 1, 2, 5, 7, 8], "0-2,5,7,8")],
)
def test_indexes_are_written_and_read(indexes, text):
    assert str(Indexes().with_all(indexes)) == text
    assert str(parse_indexes(text, 9)) == text
    assert those_of(known_indexes(text, 9)) == set(indexes)


@pytest.mark.parametrize("text", ["a", "1-", "2-1", "1,1", "3,1", "0-9", ",", "1-2-3"])
def test_what_is_no_list_of_indexes_is_refused(text):
    with pytest.raises(IndexesError):
        parse_indexes(text, 9)


def test_indexes_beyond_the_end_no_longer_count():
    assert those_of(known_indexes("0,2-6,x", 4)) == {0, 2, 3}


def test_a_long_range_costs_no_more_than_a_short_one():
    indexes = parse_indexes(f"0-{MANY}", MANY + 9)
    assert len(indexes) == MANY + 1
    assert MANY in indexes
    assert list(indexes.missing(MANY + 3)) == [MANY + 1, MANY + 2]
    assert str(indexes - known_indexes("5", MANY)) == f"0-4,6-{MANY}"
    assert next(Indexes().missing(MANY)) == 0


some = st.sets(st.integers(0, 30))


@given(some, some, some)
def test_they_are_sets(first, second, third):
    one, other = Indexes().with_all(first), Indexes().with_all(second)
    assert len(one) == len(first)
    assert those_of(one | other) == first | second
    assert those_of(one - other) == first - second
    assert those_of(one.with_all(third)) == first | third
    assert set(one.missing(25)) == set(range(25)) - first
