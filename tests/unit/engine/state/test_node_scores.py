import gc
import weakref

import numpy as np

from posse.engine.reporting.messages import verdict_text
from posse.engine.state import node_scores
from posse.engine.state.node_scores import REFUSED, RankMemo
from posse.engine.verdict import Code
from tests.support.builders import node, nodes, pod, taint
from tests.support.engine_parts import attached, state_of, tables_for

GPU = "example.com/gpu"


def totals(state, wanted):
    found = tables_for(state, wanted).scores.totals()
    return {name: int(found[row]) for name, row in state.nodes.row_of.items()}


def test_the_total_is_the_score_where_the_pod_fits_and_refused_elsewhere():
    state = state_of(node("a", cpu="4", memory="8Gi"), node("b", cpu="500m"), node("c", taints=[taint("k")]))
    assert totals(state, pod(cpu="1", memory="2Gi")) == {"a": 150, "b": REFUSED, "c": REFUSED}


def test_ranks_are_remembered_within_a_number_of_bytes(monkeypatch):
    monkeypatch.setattr(node_scores, "MAX_REMEMBERED_BYTES", 10_000)
    state = state_of(*nodes(1))
    for number in range(50):
        state.nodes.resource(f"example.com/r{number}")
    memo = RankMemo(state.nodes)
    for pods in range(100):
        assert memo.rank(0, pods, lambda _rows, more: np.array([more])) == pods
    assert 0 < sum(len(rows) for rows, _ in memo._known) <= 10_000


def test_tables_of_a_class_go_with_its_last_pod_without_a_collection_of_garbage():
    state = state_of(*(node(f"n{number}", labels={"rack": "r"}) for number in range(3)))
    record = attached(state, pod("last", cpu="1"), "n0")
    tables = state.classes.tables(state.classes.scheduling_class(record))
    tables.scores.best_rows()
    tables.scores.bursts(np.array([0]), 3)
    tables.capacity.upper_bound_in(state.domains("rack"))
    kept = [weakref.ref(each) for each in (tables.scores, tables.capacity, tables)]
    gc.disable()
    try:
        state.detach(record)
        state.classes.dismiss(record.pod_class, record.labels)
        del tables, record
        assert [each() for each in kept] == [None, None, None]
    finally:
        gc.enable()


def test_rows_without_a_node_are_refused():
    state = state_of(*nodes(3))
    tables = tables_for(state, pod(cpu="1"))
    state.drop_node("n2")
    totals = tables.scores.totals()
    assert totals[1] == REFUSED
    assert np.all(totals[3:] == REFUSED)


def test_totals_follow_usage_row_by_row():
    state = state_of(*nodes(10, cpu="4", memory="8Gi"))
    wanted = pod(cpu="1", memory="2Gi")
    tables = tables_for(state, wanted)
    assert tables.scores.totals()[:10].tolist() == [150] * 10
    there = attached(state, pod("there", cpu="2", memory="4Gi"), "n4")
    assert tables.scores.totals()[:10].tolist() == [150, 150, 150, 100, 150, 150, 150, 150, 150, 150]
    state.detach(there)
    assert tables.scores.totals()[:10].tolist() == [150] * 10


def test_totals_follow_the_table_when_it_grows():
    state = state_of(*nodes(64))
    tables = tables_for(state, pod(cpu="1"))
    assert tables.scores.totals().size == 64
    state.put_node(node("one-more"))
    assert tables.scores.totals().size == state.nodes.alive.size
    assert tables.scores.totals()[64] != REFUSED


def test_capacity_is_how_many_more_fit():
    state = state_of(
        node("a", cpu="4", memory="8Gi"),
        node("slots", cpu="4", pods="2"),
        node("away", unschedulable=True),
        node("over", cpu="1"),
    )
    attached(state, pod("greedy", cpu="3"), "over")
    attached(state, pod("there", cpu="1500m"), "a")
    capacity = tables_for(state, pod(cpu="1")).capacity.per_node()
    assert capacity[:4].tolist() == [2, 2, 0, 0]
    assert not capacity[4:].any()


def test_a_refusal_counts_nodes_by_reason_in_the_words_of_kubernetes():
    state = state_of(
        *nodes(2, cpu="1"),
        node("t", taints=[taint("k")]),
        node("u", unschedulable=True, taints=[taint("k")]),
        node("s", labels={"zone": "west"}, pods="0"),
        node("z", cpu="1", labels={"zone": "east"}, pods="0"),
    )
    verdict = tables_for(state, pod(cpu="2", memory="1Gi", requests={GPU: 1})).scores.refuse()
    assert verdict_text(verdict) == (
        "0/6 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, "
        "2 Too many pods, 3 Insufficient cpu, 4 Insufficient example.com/gpu."
    )
    assert {(r.rule, r.reason, r.nodes) for r in verdict.refusals} >= {
        ("NodeUnschedulable", "node(s) were unschedulable", 1),
        ("NodeResourcesFit", "Insufficient cpu", 3),
    }


def test_the_shortest_refusal_is_exact():
    state = state_of(*nodes(2, cpu="1"))
    assert (
        verdict_text(tables_for(state, pod(cpu="2")).scores.refuse())
        == "0/2 nodes are available: 2 Insufficient cpu."
    )


def test_without_nodes_the_refusal_says_so():
    verdict = tables_for(state_of(), pod()).scores.refuse()
    assert verdict_text(verdict) == "no nodes available to schedule pods"
    assert verdict.code is Code.UNRESOLVABLE


def test_a_refusal_is_unresolvable_where_no_eviction_could_help():
    state = state_of(node("a", cpu="1"), node("b", cpu="2", taints=[taint("k")]))
    tables = tables_for(state, pod(cpu="2"))
    assert not tables.capacity.resolvable().any()
    assert tables.scores.refuse().code is Code.UNRESOLVABLE


def test_a_refusal_is_resolvable_if_one_node_could_be_made_free():
    state = state_of(node("a", cpu="1"), node("b", cpu="2"))
    attached(state, pod("there", cpu="1"), "b")
    tables = tables_for(state, pod(cpu="2"))
    assert np.flatnonzero(tables.capacity.resolvable()).tolist() == [1]
    assert tables.scores.refuse().code is Code.UNSCHEDULABLE


def test_a_node_with_a_static_refusal_stays_hopeless_when_it_also_lacks_room():
    state = state_of(node("a", cpu="2", taints=[taint("k")]))
    attached(state, pod("there", cpu="1"), "a")
    assert not tables_for(state, pod(cpu="2")).capacity.resolvable().any()


def test_a_refusal_counts_the_nodes_as_they_are_used_now():
    state = state_of(node("a", cpu="1"), node("b", cpu="1"))
    scores = tables_for(state, pod(cpu="1")).scores
    scores.totals()
    on_a, on_b = (attached(state, pod(f"on-{name}", cpu="1"), name) for name in "ab")
    assert [one.nodes for one in scores.refuse().cause.refusals] == [2]
    state.detach(on_b)
    assert [one.nodes for one in scores.refuse().cause.refusals] == [1]
    state.put_node(node("b", cpu="500m"))
    state.detach(on_a)
    assert [one.nodes for one in scores.refuse().cause.refusals] == [1]
    state.put_node(node("b", cpu="1"))
    assert not scores.refuse().cause.refusals
