"""Lists of an applied configuration: the order of the result, and what it costs."""

from posse.kinds.apply.field_types import FieldType
from posse.kinds.apply.merging import merged


class Counted(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class Values(FieldType):
    def element(self, item):
        return Counted(item)


def test_live_items_keep_their_place_among_those_of_the_configuration():
    assert merged(FieldType("set"), ["x", "b", "y", "a"], ["a", "b", "c"]) == ["x", "a", "b", "y", "c"]
    assert merged(FieldType("set"), ["c", "a"], ["a", "b"]) == ["c", "a", "b"]


def test_an_order_that_goes_back_and_forth_costs_no_more_than_any_other():
    live = [f"v{number}" for number in range(2000)]
    wanted = [live[1000], *live[:1000], *live[1001:]]
    Counted.comparisons = 0
    assert merged(Values("set"), live, wanted) == wanted
    assert Counted.comparisons < 20 * len(live)
