"""The constraints that stand with the fields of all served structs."""

import pytest

from posse.kinds.registry import KINDS
from posse.model.constraints import FIXED_KEYS, KeyedBy, MaxDepth, MaxItems, Required, UnionMember
from posse.model.structure import fields_of, reachable

STRUCTS = reachable(kind.struct for kind in KINDS)
FIELDS = [
    (f"{struct.__name__}.{name}", shape) for struct in STRUCTS for name, shape in fields_of(struct).items()
]


def constrained(kind):
    return pytest.mark.parametrize(
        "shape", [pytest.param(shape, id=path) for path, shape in FIELDS if shape.constraint(kind)]
    )


def test_most_constraints_stand_with_the_groups():
    assert any(path.startswith("PodGroupSpec.") for path, shape in FIELDS if shape.constraints)


@constrained(KeyedBy)
def test_items_have_the_field_by_which_they_are_told_apart(shape):
    assert shape.holds == "list"
    assert shape.constraint(KeyedBy).key in fields_of(shape.struct)


@constrained(MaxItems)
def test_only_lists_and_maps_have_a_number_of_items(shape):
    assert shape.holds != "one"


@constrained(MaxDepth)
def test_only_what_contains_itself_has_a_depth(shape):
    assert shape.struct in {inner.struct for inner in fields_of(shape.struct).values()}


@constrained(Required)
def test_what_is_required_has_a_value_that_counts_as_absent(shape):
    assert shape.struct is None or shape.may_be_none or shape.holds != "one"


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_a_union_has_a_choice(struct):
    members = [shape for shape in fields_of(struct).values() if shape.constraint(UnionMember)]
    assert len(members) != 1
    assert all(shape.may_be_none or shape.holds == "list" for shape in members)


def test_only_lists_with_keys_can_keep_them():
    assert all(shape.constraint(KeyedBy) for _, shape in FIELDS if FIXED_KEYS in shape.constraints)
