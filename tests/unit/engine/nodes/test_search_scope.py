"""Confined to some rows a search uses no others, and everything is as it was afterwards."""

import numpy as np
import pytest

from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import attempt_in
from posse.engine.placement.search.fill import fill, fill_tightly
from posse.engine.reporting.messages import verdict_text
from posse.engine.state.draft import Draft
from posse.engine.state.node_scores import REFUSED
from posse.engine.verdict import Code
from posse.model.meta import LabelSelector
from posse.model.placement import TopologySpreadConstraint
from tests.support.builders import NAMESPACE, changed, gang, in_rack, nodes, one_domain, pod, pods, taint
from tests.support.engine_parts import attached, records_of, state_of, subject_of, tables_for

SECOND_AND_THIRD = np.array([1, 2])


@pytest.mark.parametrize("way", [fill, fill_tightly])
def test_pods_go_nowhere_else(way):
    state = state_of(*nodes(4, cpu="2"))
    records = records_of(state, pods(5, cpu="1"))
    draft = Draft(state)
    with state.confined(SECOND_AND_THIRD):
        assert way(state, draft, state.scheduling_class(records[0]), records) == 4
    assert sorted(record.node for record in draft.placed()) == ["n2", "n2", "n3", "n3"]


def test_scores_and_capacity_answer_for_the_scope_alone():
    state = state_of(*nodes(4, cpu="2"))
    attached(state, pod("there", cpu="2"), "n2")
    tables = tables_for(state, pod(cpu="1"))
    with state.confined(SECOND_AND_THIRD):
        assert tables.capacity.per_node()[:4].tolist() == [0, 0, 2, 0]
        assert tables.capacity.resolvable()[:4].tolist() == [False, True, True, False]
        assert tables.capacity.open_when_empty()[:4].tolist() == [False, True, True, False]
        assert verdict_text(tables.scores.refuse()) == "0/2 nodes are available: 1 Insufficient cpu."
        assert tables.scores.best_rows().tolist() == [2]
    assert tables.capacity.per_node()[:4].tolist() == [2, 0, 2, 2]


def test_scores_that_compare_nodes_compare_those_of_the_confines():
    described = nodes(3, cpu="4")
    described[0] = changed(described[0], spec={"taints": (taint("slow", effect="PreferNoSchedule"),)})
    state = state_of(*described)
    tables = tables_for(state, pod(cpu="1"))
    with state.confined(np.array([0])):
        totals = tables.scores.totals()
    assert totals[0] != REFUSED
    assert totals[1:3].tolist() == [REFUSED, REFUSED]


def test_confines_inside_of_confines_end_with_the_outer_ones_in_force():
    state = state_of(*nodes(4, cpu="2"))
    tables = tables_for(state, pod(cpu="1"))
    with state.confined(SECOND_AND_THIRD):
        with state.confined(np.array([2])):
            assert tables.scores.best_rows().tolist() == [2]
        assert tables.scores.best_rows().tolist() == [1, 2]
    assert tables.scores.best_rows().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("scope", [None, np.array([0, 2, 3])])
def test_the_best_row_is_the_next_in_turn_and_then_the_first_again(scope):
    state = state_of(*nodes(4, cpu="2"))
    attached(state, pod("there", cpu="1"), "n3")
    scores = tables_for(state, pod(cpu="1")).scores
    with state.confined(np.arange(4) if scope is None else scope):
        best = scores.best_rows().tolist()
        expected = [next((row for row in best if row >= turn), best[0]) for turn in range(6)]
        assert [scores.best_row_from(turn) for turn in range(6)] == expected
    attached(state, pod("more", cpu="1"), "n3")
    with state.confined(np.array([2])):
        assert scores.best_row_from(0) is None


def test_rules_see_the_whole_cluster():
    apart = TopologySpreadConstraint(
        max_skew=1,
        topology_key="rack",
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels={"app": "web"}),
    )
    web = changed(
        pod("w", cpu="1", topology_spread_constraints=(apart,)), metadata={"labels": {"app": "web"}}
    )
    state = state_of(*in_rack("r1", "a"), *in_rack("r2", "b"))
    attached(state, changed(web, metadata={"uid": "there"}), "a")
    tables = state.classes.tables(subject_of(state, web))
    with state.confined(np.array([0])):
        assert not tables.scores.best_rows().size
    with state.confined(np.array([1])):
        assert tables.scores.best_rows().tolist() == [1]


def test_a_group_is_tried_in_an_open_draft_behind_what_is_in_it():
    """That is what a tree of groups is made of: one draft, confines for each level, and the groups one after the other."""
    state = state_of(*in_rack("r1", "a", "b", cpu="2"), *in_rack("r2", "c", "d", cpu="2"))
    book = GroupBook()
    for name in ("first", "second"):
        members = records_of(state, [pod(f"{name}-{i}", cpu="1", group=name) for i in range(3)])
        for record in members:
            book.join(record, GroupKey(NAMESPACE, name))
        book.put(gang(name, minimum=3, **one_domain()))
    first, second = book
    draft = Draft(state)
    with state.confined(np.array([0, 1])):
        assert len(attempt_in(state, draft, first).placed) == 3
        refused = attempt_in(state, draft, second)
    assert refused.verdict.code is Code.UNSCHEDULABLE
    assert len(draft.placed()) == 3
    placed = attempt_in(state, draft, second).placed
    assert {record.node for record in placed} == {"c", "d"}
    assert len(draft.placed()) == 6
    draft.roll_back()
    assert not state.nodes.requested.any()
