"""Validation that follows from the constraints on fields."""

from typing import Annotated, Any

import msgspec
import pytest

from posse.kinds.machinery.declared import Whole, declared_errors, fields_errors, fixed_errors
from posse.kinds.machinery.errors import FieldError
from posse.model.constraints import (
    AMOUNTS,
    BLAMES_HOLDER,
    FIXED_KEYS,
    IMMUTABLE,
    ONLY_TRUE,
    OPAQUE,
    PRESENT,
    QUANTITY,
    REQUIRED,
    SHARE,
    UNIQUE,
    Between,
    HasKey,
    Immutable,
    KeyedBy,
    Keys,
    MaxBytes,
    MaxDepth,
    Maximum,
    MaxItems,
    Minimum,
    NotEmpty,
    OneOf,
    Parts,
    QualifiedName,
    RawObject,
    Required,
    UnionMember,
)
from posse.model.decoding import decode
from posse.model.formats import dns_label, label_key
from posse.model.meta import Int32, IntOrString, Labels, Quantity, Shape


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


EITHER = UnionMember(is_optional=True, several_text="not both", shows_value=True)


class Choice(Shape):
    left: Annotated[str | None, EITHER] = None
    right: Annotated[str | None, EITHER] = None


class Worded(Shape):
    """Constraints that refuse in words or at places of their own."""

    port: Annotated[Int32, Between(1, 9)] = 0
    weight: Annotated[Int32, PRESENT, Between(1, 9, "must be in the range 1-9")] = 1
    skew: Annotated[Int32, Minimum(1, "must be greater than zero")] = 1
    operator: Annotated[str, OneOf(("In",), text="not an operator")] = "In"
    group: Annotated[str | None, Required("must be set", is_invalid=True)] = "g"
    key: Annotated[str, BLAMES_HOLDER, label_key] = ""
    modes: Annotated[tuple[str, ...], Required("at least one"), OneOf(("a",)), BLAMES_HOLDER] = ("a",)
    labels: Labels = msgspec.field(default_factory=dict)
    data: Annotated[dict[str, str], Keys(label_key)] = msgspec.field(default_factory=dict)
    amounts: Annotated[dict[str, Quantity], AMOUNTS] = msgspec.field(default_factory=dict)
    leaves: Annotated[tuple[Leaf, ...], KeyedBy("name", blames_key=True, text="must be unique")] = ()
    stored: Annotated[dict[str, str], HasKey("storage")] = msgspec.field(
        default_factory=lambda: {"storage": ""}
    )
    kept: Annotated[str, Immutable(text="updates are forbidden.")] = ""
    choice: Choice | None = None
    opaque: Annotated[Leaf | None, OPAQUE] = None


WORDED = {
    "optional number": ({"port": 0}, []),
    "out of range": ({"port": 10}, ["spec.port: Invalid value: 10: must be between 1 and 9, inclusive"]),
    "out of range, 0": ({"weight": 0}, ["spec.weight: Invalid value: 0: must be in the range 1-9"]),
    "too little": ({"skew": 0}, ["spec.skew: Invalid value: 0: must be greater than zero"]),
    "no choice": ({"operator": ""}, ['spec.operator: Invalid value: "": not an operator']),
    "absent": ({"group": None}, ["spec.group: Invalid value: null: must be set"]),
    "no items": ({"modes": []}, ["spec.modes: Required value: at least one"]),
    "item": ({"modes": ["b"]}, ['spec.modes: Unsupported value: "b": supported values: "a"']),
    "amount": (
        {"amounts": {"cpu": "-1", "x.y/z": "500m"}},
        [
            'spec.amounts[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            'spec.amounts[x.y/z]: Invalid value: "500m": must be an integer',
        ],
    ),
    "missing entry": ({"stored": {}}, ["spec.stored[storage]: Required value"]),
    "same key": (
        {"leaves": [{"name": "a"}, {"name": "a"}]},
        ['spec.leaves[1].name: Invalid value: "a": must be unique'],
    ),
    "none of a union": ({"choice": {}}, []),
    "both of a union": (
        {"choice": {"left": "a", "right": "b"}},
        ['spec.choice: Invalid value: {"left":"a","right":"b"}: not both'],
    ),
    "opaque": ({"opaque": {"count": -1}}, []),
}


@pytest.mark.parametrize(("obj", "expected"), WORDED.values(), ids=WORDED.keys())
def test_constraints_have_words_and_places_of_their_own(obj, expected):
    given = {"weight": 1, "skew": 1, "operator": "In", "group": "g", "modes": ["a"]} | obj
    assert [str(error) for error in declared_errors("spec", decode(Worded, given))] == expected


@pytest.mark.parametrize(
    ("obj", "field"),
    [
        ({"key": "a b"}, "spec"),
        ({"labels": {"a b": ""}}, "spec.labels"),
        ({"labels": {"a": "b c"}}, "spec.labels"),
        ({"data": {"a b": ""}}, "spec.data[a b]"),
    ],
)
def test_which_field_is_blamed(obj, field):
    assert [error.field for error in declared_errors("spec", decode(Worded, obj))] == [field]


def test_a_change_may_be_forbidden_in_words_of_its_own():
    [error] = declared_errors("spec", decode(Worded, {"kept": "b"}), decode(Worded, {"kept": "a"}))
    assert str(error) == "spec.kept: Forbidden: updates are forbidden."


def test_rules_by_hand_are_called_wherever_their_struct_occurs():
    def judge(path, leaf):
        return [FieldError.forbidden(f"{path}.count", "more than letters")] * (leaf.count > len(leaf.name))

    tree = decode(Tree, {"leaf": {"name": "a", "count": 2}, "leaves": [{"name": "bb", "count": 3}]})
    fields = [error.field for error in declared_errors("spec", tree, rules={Leaf: judge})]
    assert fields == ["spec.leaves[0].count", "spec.leaf.count"]


NAME = QualifiedName()
ONE = UnionMember(none_text="one is needed", several_text="one is enough", shows_empty_text=True)


class Value(Shape):
    number: Annotated[Int32 | None, ONE] = None
    words: Annotated[tuple[str, ...], ONE, dns_label] = ()


class Part(Shape):
    name: Annotated[str, PRESENT, dns_label] = "x"
    place: Annotated[str | None, NotEmpty(), Parts(dns_label)] = None
    node: Annotated[str | None, NotEmpty("must not be empty")] = None
    attribute: Annotated[str | None, QualifiedName(needs_domain=True)] = None
    amount: Annotated[Quantity | None, QUANTITY] = None
    everywhere: Annotated[bool | None, ONLY_TRUE] = None
    raw: Annotated[Any | None, RawObject(9)] = None
    words: Annotated[tuple[str, ...], UNIQUE, dns_label] = ()
    leaves: Annotated[tuple[Leaf, ...], KeyedBy("name", shows_key=True, is_last=True)] = ()
    values: Annotated[dict[str, Value], MaxItems(2), Keys(NAME, blames_map=True)] = msgspec.field(
        default_factory=dict
    )
    leaf: Leaf = Leaf(name="x")
    kept: Annotated[Leaf, Immutable(shows_value=True)] = Leaf(name="x")


SLASH = "a fully qualified name must be a domain and a name separated by a slash"
PARTS = {
    "absent": ({"place": None, "node": None, "everywhere": None, "raw": None}, []),
    "empty": ({"place": ""}, ["spec.place: Required value"]),
    "empty, in words": ({"node": ""}, ['spec.node: Invalid value: "": must not be empty']),
    "no domain": ({"attribute": "a"}, [f'spec.attribute: Invalid value: "a": {SLASH}']),
    "empty domain": (
        {"attribute": "/a"},
        ['spec.attribute: Invalid value: "": the domain must not be empty'],
    ),
    "empty name": ({"attribute": "a/"}, ['spec.attribute: Invalid value: "": the name must not be empty']),
    "long domain": (
        {"attribute": "a" * 64 + "/b"},
        ["spec.attribute: Too long: may not be more than 63 bytes"],
    ),
    "false": (
        {"everywhere": False},
        ["spec.everywhere: Invalid value: false: must be either unset or set to true"],
    ),
    "raw": ({"raw": {}}, []),
    "raw, no object": (
        {"raw": 0},
        ['spec.raw: Invalid value: "<value omitted>": must be a valid JSON object'],
    ),
    "raw, too long": ({"raw": {"a": "bcd"}}, ["spec.raw: Too long: may not be more than 9 bytes"]),
    "twice": ({"words": ["a", "b", "a"]}, ['spec.words[2]: Duplicate value: "a"']),
    "twice, said last": (
        {"leaves": [{"name": "a"}, {"name": "a", "count": -1}]},
        [
            "spec.leaves[1].count: Invalid value: -1: must be greater than or equal to 0",
            'spec.leaves[1]: Duplicate value: "a"',
        ],
    ),
    "entries": (
        {"values": {key: {"number": 1} for key in "abc"}},
        ["spec.values: Too many: 3: must have at most 2 items"],
    ),
    "entry": ({"values": {"a": {}}}, ['spec.values[a]: Invalid value: "": one is needed']),
    "both of an entry": (
        {"values": {"a": {"number": 0, "words": ["x"]}}},
        ['spec.values[a]: Invalid value: "": one is enough'],
    ),
}


@pytest.mark.parametrize(("obj", "expected"), PARTS.values(), ids=PARTS.keys())
def test_parts_of_values_are_judged(obj, expected):
    assert [str(error) for error in declared_errors("spec", decode(Part, obj))] == expected


@pytest.mark.parametrize(
    ("obj", "field", "shown"),
    [
        ({"place": "a/B/c"}, "spec.place", "B"),
        ({"attribute": "a.b/9"}, "spec.attribute", "9"),
        ({"amount": "x"}, "spec.amount", "x"),
        ({"values": {"9": {"number": 1}}}, "spec.values", "9"),
        ({"values": {"a": {"words": ["B"]}}}, "spec.values[a].words[0]", "B"),
    ],
)
def test_what_errors_name_and_show(obj, field, shown):
    [error] = declared_errors("spec", decode(Part, obj))
    assert (error.field, error.bad_value) == (field, shown)


def test_a_rule_may_stand_for_the_whole_struct():
    def judge(path, leaf, rules):
        between = [FieldError.forbidden(path, "no leaves")]
        return fields_errors(path, leaf, rules, "count") + between + fields_errors(path, leaf, rules, "name")

    part = decode(Part, {"leaf": {"name": "", "count": -1}})
    fields = [error.field for error in declared_errors("spec", part, rules={Leaf: Whole(judge)})]
    assert fields == ["spec.leaf.count", "spec.leaf", "spec.leaf.name", "spec.kept"]


def test_only_changes_of_what_is_fixed():
    old = decode(Part, {"kept": {"name": "a"}})
    new = decode(Part, {"kept": {"name": "B"}, "name": "B"})
    assert [str(error) for error in fixed_errors("", new, old)] == [
        'kept: Invalid value: {"name":"B"}: field is immutable'
    ]
    assert fixed_errors("", old, old) == []
