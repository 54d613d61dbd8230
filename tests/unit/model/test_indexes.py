import pytest

from posse.model.indexes import IndexesError, format_indexes, known_indexes, parse_indexes


@pytest.mark.parametrize(
    ("indexes", "text"),
    [([], ""), ([3], "3"), ([1, 2], "1,2"), ([0, 2, 3, 4], "0,2-4"), ([0, 1, 2, 5, 7, 8], "0-2,5,7,8")],
)
def test_indexes_are_written_and_read(indexes, text):
    assert format_indexes(set(indexes)) == text
    assert parse_indexes(text, 9) == indexes
    assert known_indexes(text, 9) == set(indexes)


@pytest.mark.parametrize("text", ["a", "1-", "2-1", "1,1", "3,1", "0-9", ",", "1-2-3"])
def test_what_is_no_list_of_indexes_is_refused(text):
    with pytest.raises(IndexesError):
        parse_indexes(text, 9)


def test_indexes_beyond_the_end_no_longer_count():
    assert known_indexes("0,2-6,x", 4) == {0, 2, 3}
