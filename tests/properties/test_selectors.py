"""Selectors against a twin that never parses: requirements are drawn, written as text, and judged one by one."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from posse.model.meta import LabelSelector, LabelSelectorRequirement
from posse.model.selectors import (
    SelectorError,
    field_text,
    label_query,
    parse_field_selector,
    parse_label_selector,
)

keys = st.sampled_from(["app", "in", "notin", "x.y", "example.com/rack", "rank"])
values = st.sampled_from(["", "a", "b-c", "in", "1", "2", "10"])
label_sets = st.dictionaries(keys, values)
requirements = st.one_of(
    st.tuples(keys, st.sampled_from(["Exists", "DoesNotExist"]), st.just(())),
    st.tuples(
        keys,
        st.sampled_from(["In", "NotIn"]),
        st.lists(values, min_size=1, max_size=3, unique=True).map(tuple),
    ),
)
comparisons = st.tuples(keys, st.sampled_from(["Gt", "Lt"]), st.integers(-20, 20).map(lambda n: (str(n),)))


def write(requirement) -> str:
    key, operator, wanted = requirement
    match operator:
        case "Exists":
            return key
        case "DoesNotExist":
            return f"!{key}"
        case "Gt" | "Lt":
            return f"{key}{'>' if operator == 'Gt' else '<'}{wanted[0]}"
        case "In" if len(wanted) == 1:
            return f"{key} = {wanted[0]}"
    return f"{key} {operator.lower()} ({','.join(wanted)})"


def holds(requirement, labels) -> bool:
    key, operator, wanted = requirement
    if operator in {"Exists", "DoesNotExist"}:
        return (key in labels) == (operator == "Exists")
    if operator in {"In", "NotIn"}:
        return (key in labels and labels[key] in wanted) == (operator == "In")
    try:
        actual = int(labels[key])
    except (KeyError, ValueError):
        return False
    return actual > int(wanted[0]) if operator == "Gt" else actual < int(wanted[0])


def writable(requirement) -> bool:
    """Label values cannot begin with a sign, so negative bounds exist in node affinity only."""
    return requirement[1] not in {"Gt", "Lt"} or not requirement[2][0].startswith("-")


@given(st.lists(st.one_of(requirements, comparisons).filter(writable), max_size=4), label_sets)
def test_text_matches_when_every_requirement_holds(wanted, labels):
    query = parse_label_selector(",".join(write(requirement) for requirement in wanted))
    assert query.matches(labels) == all(holds(requirement, labels) for requirement in wanted)


@given(st.lists(requirements, max_size=4), label_sets)
def test_selector_objects_and_text_agree(wanted, labels):
    expressions = tuple(LabelSelectorRequirement(key=k, operator=o, values=v) for k, o, v in wanted)
    from_object = label_query(LabelSelector(match_expressions=expressions))
    from_text = parse_label_selector(",".join(write(requirement) for requirement in wanted))
    assert from_object.matches(labels) == from_text.matches(labels)


@given(label_sets)
def test_match_labels_select_exactly_their_supersets(labels):
    query = label_query(LabelSelector(match_labels=labels))
    assert query.matches(labels | {"more": "x"})
    assert query.matches({}) == (not labels)


@given(st.text())
def test_any_text_is_either_understood_or_refused(text):
    for parse in (parse_label_selector, parse_field_selector):
        with contextlib.suppress(SelectorError):
            parse(text)


@given(st.dictionaries(st.sampled_from(["name", "uid", "namespace"]), st.text(), min_size=1), st.booleans())
def test_escaped_field_values_match_themselves(metadata, equal):
    terms = []
    for name, value in metadata.items():
        escaped = value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
        terms.append(f"metadata.{name}{'=' if equal else '!='}{escaped}")
    query = parse_field_selector(",".join(terms))
    assert [term.value for term in query.terms] == list(metadata.values())
    assert query.matches({"metadata": metadata}, field_text) == equal
