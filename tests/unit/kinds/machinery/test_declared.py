"""Validation that follows from the constraints on fields."""

from typing import Annotated

import msgspec
import pytest

from posse.kinds.machinery.declared import declared_errors
from posse.model.constraints import (
    FIXED_KEYS,
    IMMUTABLE,
    PRESENT,
    REQUIRED,
    SHARE,
    Immutable,
    KeyedBy,
    MaxBytes,
    MaxDepth,
    Maximum,
    MaxItems,
    Minimum,
    OneOf,
)
from posse.model.decoding import decode
from posse.model.formats import dns_label
from posse.model.meta import Int32, IntOrString, Shape


class Leaf(Shape):
    name: Annotated[str, REQUIRED, dns_label] = ""
    count: Annotated[Int32, Minimum(0)] = 0


class Tree(Shape):
    name: str = ""
    size: Annotated[Int32, REQUIRED, Minimum(1)] = 1
    limit: Annotated[Int32 | None, Maximum(9)] = None
    word: Annotated[str | None, OneOf(("a", "b"))] = None
    label: Annotated[str, dns_label] = ""
    optional: Annotated[str | None, dns_label] = None
    present: Annotated[str, PRESENT, dns_label] = "x"
    text: Annotated[str, MaxBytes(3)] = ""
    share: Annotated[IntOrString | None, SHARE] = None
    fixed: Annotated[str, IMMUTABLE] = ""
    shown: Annotated[str, Immutable(shows_value=True)] = ""
    counts: Annotated[dict[str, Int32], Minimum(1)] = msgspec.field(default_factory=dict)
    words: Annotated[tuple[str, ...], OneOf(("a", "b")), MaxItems(2)] = ()
    leaves: Annotated[tuple[Leaf, ...], MaxItems(2), KeyedBy("name"), FIXED_KEYS] = ()
    leaf: Leaf | None = None
    trees: Annotated[tuple["Tree", ...], MaxDepth(1)] = ()


def problems(obj, old=None):
    before = None if old is None else decode(Tree, old)
    return [str(error) for error in declared_errors("spec", decode(Tree, obj), before)]


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({}, []),
        ({"size": 0}, ["spec.size: Required value"]),
        ({"size": -1}, ["spec.size: Invalid value: -1: must be greater than or equal to 1"]),
        ({"limit": 10}, ["spec.limit: Invalid value: 10: must be less than or equal to 9"]),
        ({"word": ""}, ['spec.word: Unsupported value: "": supported values: "a", "b"']),
        ({"label": ""}, []),
        ({"text": "äää"}, ["spec.text: Too long: may not be more than 3 bytes"]),
        ({"share": "101%"}, ['spec.share: Invalid value: "101%": must not be greater than 100%']),
        ({"counts": {"x": 0}}, ["spec.counts[x]: Invalid value: 0: must be greater than or equal to 1"]),
        ({"words": ["a", "c"]}, ['spec.words[1]: Unsupported value: "c": supported values: "a", "b"']),
        ({"words": ["c"] * 3}, ["spec.words: Too many: 3: must have at most 2 items"]),
        ({"leaf": {"name": ""}}, ["spec.leaf.name: Required value"]),
        ({"leaves": [{"name": "a"}, {"name": "a"}]}, ['spec.leaves[1]: Duplicate value: {"name":"a"}']),
    ],
)
def test_values_are_judged_by_their_constraints(obj, expected):
    assert problems(obj) == expected


@pytest.mark.parametrize("field", ["optional", "present"])
def test_an_empty_text_is_fine_only_where_it_means_absent(field):
    [problem] = problems({field: ""})
    assert problem.startswith(f'spec.{field}: Invalid value: "": a lowercase RFC 1123 label must')


def test_what_has_not_changed_is_not_judged_again():
    old = {"limit": 10, "leaf": {"count": -1}}
    assert problems({**old, "text": "a"}, old) == []
    assert len(problems({"limit": 11, "leaf": {"count": -2}}, old)) == 2


def test_fixed_fields():
    assert problems({"fixed": "a", "shown": "b"}, {}) == [
        "spec.fixed: Invalid value: null: field is immutable",
        'spec.shown: Invalid value: "b": field is immutable',
    ]


def test_items_with_fixed_keys_may_change_and_neither_come_nor_go():
    old = {"leaves": [{"name": "a"}]}
    assert problems({"leaves": [{"name": "a", "count": 1}]}, old) == []
    assert problems({"leaves": [{"name": "b"}]}, old) == [
        "spec.leaves[0]: Forbidden: item may not be added",
        "spec.leaves: Forbidden: item may not be removed",
    ]


def test_what_lies_too_deep_is_left_to_the_rules_of_the_kind():
    assert problems({"trees": [{"limit": 10}]}) == [
        "spec.trees[0].limit: Invalid value: 10: must be less than or equal to 9"
    ]
    assert problems({"trees": [{"trees": [{"limit": 10}]}]}) == []
