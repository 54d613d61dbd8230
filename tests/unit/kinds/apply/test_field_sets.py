"""Sets of fields: what is in one and not in another, and what is in both."""

from collections import UserDict

from posse.kinds.apply.field_sets import difference, intersection

LEFT = {"f:data": {".": {}, "f:a": {}, "f:b": {}}}


class Unread(UserDict):
    """A set that is far too large to be walked through."""

    def __iter__(self):
        raise AssertionError("every field was looked at")


def test_a_field_itself_and_fields_below_it_are_told_apart():
    assert difference(LEFT, {"f:data": {"f:a": {}}}) == {"f:data": {".": {}, "f:b": {}}}
    assert difference(LEFT, {"f:data": {}}) == {"f:data": {"f:a": {}, "f:b": {}}}
    assert difference(LEFT, {"f:data": {".": {}, "f:b": {}}}) == {"f:data": {"f:a": {}}}
    assert difference(LEFT, LEFT) == {}
    assert intersection(LEFT, {"f:data": {"f:a": {}}}) == {"f:data": {"f:a": {}}}
    assert intersection(LEFT, {"f:data": {}}) == {"f:data": {}}
    assert intersection(LEFT, LEFT) == LEFT


def test_only_fields_of_the_left_set_are_looked_at():
    large = {"f:data": Unread({".": {}, "f:a": {}})}
    assert difference(LEFT, large) == {"f:data": {"f:b": {}}}
    assert intersection(LEFT, large) == {"f:data": {".": {}, "f:a": {}}}
