"""What the text of an object tells about it, against a walk through it."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from posse.apiserver.json_outline import depth_of, outline_of, values_in

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text(alphabet='a"\\,{}[]:\n', max_size=6)
OBJECTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


def depth(value):
    members = members_of(value)
    return 0 if members is None else 1 + max(map(depth, members), default=0)


def count(value):
    return sum(1 + count(member) for member in members_of(value) or ())


def members_of(value):
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else None


@given(OBJECTS)
def test_the_outline_tells_what_a_walk_through_the_object_finds(value):
    outline = outline_of(msgspec.json.encode(value))
    assert (depth_of(outline), values_in(outline)) == (depth(value), count(value))
