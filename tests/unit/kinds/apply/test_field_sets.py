"""Sets of fields: what is in one and not in another, what is in both, and what is in any of many."""

from collections import UserDict

from posse.kinds.apply.field_sets import difference, intersection, union

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


class Counted(UserDict):
    """A set that counts how often it is walked through."""

    def __init__(self, fields):
        super().__init__(fields)
        self.walks = 0

    def __iter__(self):
        self.walks += 1
        return super().__iter__()


def test_a_union_has_the_fields_of_all_sets():
    assert union() == {}
    assert union(LEFT, {"f:data": {"f:c": {}}, "f:x": {}}) == {
        "f:data": {".": {}, "f:a": {}, "f:b": {}, "f:c": {}},
        "f:x": {},
    }
    assert union({"f:a": {}}, {"f:a": {"f:b": {}}}) == {"f:a": {".": {}, "f:b": {}}}
    assert union({"f:a": {"f:b": {}}}, {"f:a": {"f:c": {}}}) == {"f:a": {"f:b": {}, "f:c": {}}}


def test_a_union_of_many_sets_walks_through_each_once():
    sets = [Counted({f"f:{number}": {}}) for number in range(100)]
    joined = union(*({"f:data": one} for one in sets))
    assert len(joined["f:data"]) == len(sets)
    assert {one.walks for one in sets} == {1}
