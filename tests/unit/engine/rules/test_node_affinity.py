import pytest

from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.reporting.messages import verdict_text
from posse.engine.rules.node_affinity import NodeAffinityRule
from posse.engine.verdict import Code
from posse.model.placement import NodeSelectorTerm
from tests.support.builders import node, pod, required_affinity, requirement, taint
from tests.support.engine_parts import accepted, compiled, reasons, state_of, tables_for

RULE = NodeAffinityRule()
NODES = (
    node("bare"),
    node("east-1", labels={"zone": "east", "size": "1"}),
    node("east-9", labels={"zone": "east", "size": "9"}),
    node("west-x", labels={"zone": "west", "size": "x"}),
    node("empty", labels={"zone": "", "size": "1_0"}),
)
EVERY = [one.metadata.name for one in NODES]


def chosen(**spec):
    return accepted(RULE, pod(**spec), *NODES)


def required(*terms):
    return chosen(affinity=required_affinity(*terms))


def test_a_pod_without_wishes_compiles_to_nothing():
    assert compiled(RULE, pod(), state_of(*NODES)) is None


def test_every_entry_of_the_selector_must_match():
    assert chosen(node_selector={"zone": "east"}) == ["east-1", "east-9"]
    assert chosen(node_selector={"zone": "east", "size": "9"}) == ["east-9"]
    assert chosen(node_selector={"zone": "north"}) == []


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("In", ["east", "north"], ["east-1", "east-9"]),
        ("In", [""], ["empty"]),
        ("NotIn", ["east"], ["bare", "west-x", "empty"]),
        ("Exists", [], ["east-1", "east-9", "west-x", "empty"]),
        ("DoesNotExist", [], ["bare"]),
        ("Near", ["east"], []),
    ],
)
def test_operators_on_words(operator, values, expected):
    assert required([requirement("zone", operator, *values)]) == expected


@pytest.mark.parametrize(
    ("operator", "bound", "expected"),
    [
        ("Gt", "1", ["east-9"]),
        ("Gt", "0", ["east-1", "east-9"]),
        ("Lt", "9", ["east-1"]),
        ("Lt", "10", ["east-1", "east-9"]),
        ("Gt", "some", []),
        ("Gt", "99999999999999999999", []),
        ("Lt", "99999999999999999999", []),
    ],
)
def test_operators_on_numbers_read_them_as_kubernetes_does(operator, bound, expected):
    assert required([requirement("size", operator, bound)]) == expected


def test_terms_are_alternatives_and_their_expressions_are_not():
    both = [requirement("zone", "In", "east"), requirement("size", "Gt", "5")]
    assert required(both) == ["east-9"]
    assert required(both, [requirement("zone", "In", "west")]) == ["east-9", "west-x"]


def test_a_term_without_expressions_matches_nothing():
    assert required([]) == []
    assert required([], [requirement("zone", "In", "west")]) == ["west-x"]


def test_affinity_without_terms_matches_nothing():
    assert required() == []


def test_the_name_of_a_node_can_be_matched():
    named = NodeSelectorTerm(match_fields=(requirement("metadata.name", "In", "east-1", "gone"),))
    others = NodeSelectorTerm(match_fields=(requirement("metadata.name", "NotIn", "east-1"),))
    assert required(named) == ["east-1"]
    assert required(others) == [name for name in EVERY if name != "east-1"]


@pytest.mark.parametrize("field", [("metadata.uid", "In"), ("metadata.name", "Exists")])
def test_no_other_field_can_be_matched(field):
    assert required(NodeSelectorTerm(match_fields=(requirement(*field, "east-1"),))) == []


def test_selector_and_affinity_must_both_hold():
    wish = required_affinity([requirement("size", "Gt", "5")])
    assert chosen(node_selector={"zone": "east"}, affinity=wish) == ["east-9"]
    assert chosen(node_selector={"zone": "west"}, affinity=wish) == []


def test_nodes_that_come_and_change_later_are_seen():
    state = state_of(*NODES)
    row_filter = compiled(RULE, pod(node_selector={"zone": "north"}), state)
    assert not row_filter.passes(ALL_ROWS).any()
    row = state.nodes.put(node("north", labels={"zone": "north"}))
    assert row_filter.passes(ALL_ROWS)[row]
    state.nodes.put(node("north", labels={"zone": "south"}))
    assert not row_filter.passes(ALL_ROWS)[row]


def test_a_number_first_seen_later_is_compared():
    state = state_of(*NODES)
    row_filter = compiled(RULE, pod(affinity=required_affinity([requirement("size", "Gt", "10")])), state)
    assert not row_filter.passes(ALL_ROWS).any()
    row = state.nodes.put(node("huge", labels={"size": "64"}))
    assert row_filter.passes(ALL_ROWS)[row]


def test_a_refusal_says_so_and_no_eviction_helps():
    row_filter = compiled(RULE, pod(node_selector={"zone": "north"}), state_of(*NODES))
    assert reasons(row_filter, 0) == ["node(s) didn't match Pod's node affinity/selector"]
    assert row_filter.unresolvable(ALL_ROWS)[0]


TAINTED = node("tainted", taints=[taint("gpu")])
CORDONED = node("cordoned", unschedulable=True)
NOT_NAMED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"


def pinned(*lists, labels=()):
    """Make a term that lists names, as often as told."""
    fields = tuple(requirement("metadata.name", "In", *names) for names in lists)
    return NodeSelectorTerm(match_expressions=tuple(labels), match_fields=fields)


def told(*terms, **spec):
    state = state_of(*NODES, TAINTED, CORDONED)
    return tables_for(state, pod(affinity=required_affinity(*terms), **spec)).scores.refuse()


def test_nodes_that_the_pod_does_not_name_are_left_out_before_anything_else_is_asked():
    verdict = told(pinned(["east-1"]), cpu="100")
    assert verdict_text(verdict) == f"0/7 nodes are available: 1 Insufficient cpu, 6 {NOT_NAMED}."
    assert verdict.code is Code.UNRESOLVABLE


def test_a_named_node_speaks_for_itself():
    assert verdict_text(told(pinned(["tainted"]))) == (
        f"0/7 nodes are available: 1 node(s) had untolerated taint(s), 6 {NOT_NAMED}."
    )
    elsewhere = pinned(["bare"], labels=[requirement("zone", "In", "east")])
    assert verdict_text(told(elsewhere)) == (
        f"0/7 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 6 {NOT_NAMED}."
    )


def test_terms_name_alternatives_and_lists_of_a_term_must_agree():
    verdict = told(pinned(["east-1", "bare"], ["bare", "west-x"]), pinned(["east-9"]), cpu="100")
    assert verdict_text(verdict) == f"0/7 nodes are available: 2 Insufficient cpu, 5 {NOT_NAMED}."


def test_a_term_without_names_leaves_every_node_open():
    verdict = told(pinned(["east-1"]), [requirement("zone", "In", "north")], cpu="100")
    assert NOT_NAMED not in verdict_text(verdict)


def test_a_pod_that_names_a_missing_node_is_told_of_all_others():
    assert verdict_text(told(pinned(["gone"]))) == f"0/7 nodes are available: 7 {NOT_NAMED}."


def test_lists_without_a_name_in_common_conflict():
    verdict = told(pinned(["east-1"], ["bare"]))
    assert verdict_text(verdict) == "0/7 nodes are available: pod affinity terms conflict."
    assert verdict.code is Code.UNRESOLVABLE


def test_one_term_in_conflict_leaves_the_others():
    verdict = told(pinned(["east-1"], ["bare"]), pinned(["east-9"]), cpu="100")
    assert verdict_text(verdict) == f"0/7 nodes are available: 1 Insufficient cpu, 6 {NOT_NAMED}."
