import pytest

from posse.model.meta import LabelSelector, LabelSelectorRequirement
from posse.model.selectors import (
    FieldTerm,
    LabelRequirement,
    SelectorError,
    field_text,
    label_query,
    matches_requirement,
    parse_field_selector,
    parse_label_selector,
)

LABELS = {"app": "train", "tier": "gpu", "rank": "7", "example.com/zone": "a", "empty": ""}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "app",
        "app=train",
        "app==train",
        " app = train ",
        "app!=serve",
        "missing!=anything",
        "!missing",
        "app in (serve,train)",
        "app in (serve, train),tier",
        "app notin (serve)",
        "missing notin (a)",
        "example.com/zone=a",
        "rank>6",
        "rank<8",
        "empty=",
        "empty in (,x)",
        "empty in ()",
        "app=train,tier=gpu,!gone",
    ],
)
def test_selectors_that_match(text):
    assert parse_label_selector(text).matches(LABELS)


@pytest.mark.parametrize(
    "text",
    [
        "missing",
        "!app",
        "app=serve",
        "app!=train",
        "app in (serve)",
        "app notin (train,serve)",
        "app=train,tier=cpu",
        "rank>7",
        "rank<7",
        "app>1",
        "missing>1",
        "missing=",
    ],
)
def test_selectors_that_do_not_match(text):
    assert not parse_label_selector(text).matches(LABELS)


def test_words_that_look_like_operators_are_keys_and_values_too():
    assert parse_label_selector("in in (in,notin)").matches({"in": "notin"})
    assert parse_label_selector("a=in").matches({"a": "in"})


def test_requirements_are_kept_in_order_with_sorted_values():
    assert parse_label_selector("b in (z,y),!a").requirements == (
        LabelRequirement("b", "In", ("y", "z")),
        LabelRequirement("a", "DoesNotExist"),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("app,", "expected a label key, found its end"),
        (",app", "expected a label key, found ','"),
        ("app train", "'train' after 'app' is not an operator"),
        ("app!", "'!' after 'app' is not an operator"),
        ("app=a=b", "expected ',', found '='"),
        ("!app=b", "expected ',', found '='"),
        ("app in a", "expected '(', found 'a'"),
        ("app in (a", "expected ')', found its end"),
        ("app in (a))", "expected ',', found ')'"),
        ("-app=a", "'-app' is not a label key"),
        ("a" * 64, "is not a label key"),
        ("a/b/c=d", "what stands before '/' must be a DNS name"),
        ("UP/b=c", "what stands before '/' must be a DNS name"),
        ("/b=c", "what stands before '/' must be a DNS name"),
        ("app=-a", "'-a', wanted for 'app', is not a label value"),
        ("app=" + "a" * 64, "is not a label value"),
        ("rank>many", "'rank' can only be compared with an integer, not with 'many'"),
        ("rank>", "'rank' can only be compared with an integer, not with ''"),
    ],
)
def test_bad_label_selectors_say_what_is_wrong(text, reason):
    with pytest.raises(SelectorError) as caught:
        parse_label_selector(text)
    assert reason in str(caught.value)


def selector(operator="In", values=(), **match_labels):
    wanted = LabelSelectorRequirement(key="tier", operator=operator, values=values)
    return LabelSelector(match_labels=match_labels, match_expressions=(wanted,))


def test_a_label_selector_object_means_the_same_as_the_text():
    assert label_query(selector("In", ("cpu", "gpu"), app="train")) == parse_label_selector(
        "app=train,tier in (cpu,gpu)"
    )
    assert label_query(selector("NotIn", ("cpu",))).matches({})
    assert label_query(selector("Exists")).matches(LABELS)
    assert not label_query(selector("DoesNotExist")).matches(LABELS)


def test_an_absent_selector_matches_nothing_an_empty_one_everything():
    assert not label_query(None).matches(LABELS)
    assert label_query(LabelSelector()).matches(LABELS)
    assert label_query(LabelSelector()).matches({})


@pytest.mark.parametrize(
    ("operator", "values", "reason"),
    [
        ("Gt", ("1",), "'Gt' is not an operator: use In, NotIn, Exists or DoesNotExist"),
        ("in", ("a",), "'in' is not an operator"),
        ("In", (), "In on 'tier' needs at least one value"),
        ("Exists", ("a",), "Exists on 'tier' takes no values"),
        ("In", ("no spaces",), "is not a label value"),
    ],
)
def test_bad_label_selector_objects_say_what_is_wrong(operator, values, reason):
    with pytest.raises(SelectorError) as caught:
        label_query(selector(operator, values))
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("operator", "values", "key", "expected"),
    [
        ("Gt", ["6"], "rank", True),
        ("Gt", ["7"], "rank", False),
        ("Lt", ["8"], "rank", True),
        ("Lt", ["-1"], "rank", False),
        ("Gt", ["x"], "rank", False),
        ("Gt", [], "rank", False),
        ("Gt", ["1", "2"], "rank", False),
        ("Gt", ["1"], "app", False),
        ("Lt", ["9223372036854775808"], "rank", False),
        ("In", [], "rank", False),
        ("NotIn", [], "rank", True),
    ],
)
def test_node_requirements(operator, values, key, expected):
    assert matches_requirement(operator, values, LABELS, key) is expected


def test_an_unknown_operator_is_an_error_not_a_mismatch():
    with pytest.raises(SelectorError, match="unknown operator 'Near'"):
        matches_requirement("Near", [], LABELS, "app")


POD = {
    "metadata": {"name": "a,b=c", "namespace": "default"},
    "spec": {"nodeName": "n1", "hostNetwork": True, "priority": 5},
    "status": {},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("spec.nodeName=n1", True),
        ("spec.nodeName==n1,metadata.namespace=default", True),
        ("spec.nodeName!=n1", False),
        ("spec.nodeName=", False),
        ("status.phase=", True),
        ("status.phase!=Failed", True),
        ("spec.hostNetwork=true", True),
        ("spec.priority=5", True),
        (r"metadata.name=a\,b\=c", True),
        ("spec.nodeName=n1,,metadata.namespace=default,", True),
        ("spec.nodeName.deeper=x", False),
    ],
)
def test_field_selectors(text, expected):
    assert parse_field_selector(text).matches(POD, field_text) is expected


def test_field_terms_are_unescaped():
    assert parse_field_selector(r"a=\\\,,b!=c").terms == (
        FieldTerm("a", "\\,", equal=True),
        FieldTerm("b", "c", equal=False),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("spec.nodeName", "expected a field, then =, == or !=, then a value"),
        ("=n1", "expected a field, then =, == or !=, then a value"),
        ("a=b=c", "expected a field, then =, == or !=, then a value"),
        ("a=b\\", "expected a field, then =, == or !=, then a value"),
        (r"a=b\c", "is no escape"),
    ],
)
def test_bad_field_selectors_say_what_is_wrong(text, reason):
    with pytest.raises(SelectorError) as caught:
        parse_field_selector(text)
    assert reason in str(caught.value)
