"""Ranks that are computed once for all rows of equal resources are those that each row gets by itself."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.engine.nodes import row_states
from posse.engine.nodes.row_states import RowStates
from posse.engine.state.node_scores import FEW, REFUSED
from tests.differential.strategies import pod_named, sized_pods
from tests.support.builders import node, pod, taint
from tests.support.engine_driver import Driver
from tests.support.engine_parts import attached, state_of, tables_for

ROWS = 4 * FEW

shapes = st.builds(
    lambda cpu, memory, gpu, closed: {
        "cpu": cpu,
        "memory": memory,
        "example.com/gpu": gpu,
        "taints": [taint("closed")] if closed else (),
    },
    st.sampled_from(["500m", "2", "8"]),
    st.sampled_from(["512Mi", "16Gi"]),
    st.sampled_from([None, "1"]),
    st.sampled_from([False, False, False, True]),
)
clusters = st.lists(shapes, min_size=1, max_size=3).flatmap(
    lambda few: st.lists(st.sampled_from(few), min_size=ROWS, max_size=ROWS)
)
"""Many nodes of few shapes."""
placements = st.tuples(sized_pods(), st.integers(0, ROWS - 1))
at_first = st.lists(placements, max_size=2 * ROWS)
later_on = st.lists(placements, min_size=FEW + 1, max_size=ROWS // 2)
"""Too many to look up one by one, and too few to read all rows again."""


def attach_all(state, drawn, prefix):
    return [
        attached(state, pod_named(one, f"{prefix}{index}"), f"n{row}")
        for index, (one, row) in enumerate(drawn)
    ]


def row_by_row(scores):
    """Return the total of every row, each asked for by itself."""
    passes = scores.passes_when_empty()
    ranks = [int(scores._usage_rank(np.array([row]))[0]) for row in range(passes.size)]
    return [
        rank + int(scores._points[row]) if passes[row] and rank != REFUSED else REFUSED
        for row, rank in enumerate(ranks)
    ]


@given(clusters, st.lists(sized_pods(), min_size=1, max_size=4), at_first, later_on, st.integers(0, ROWS - 1))
def test_ranks_by_state_are_those_row_by_row(described, kinds, there, later, lost):
    with (
        patch.object(row_states, "_FEW_READS", -1),
        patch.object(RowStates, "of", autospec=True, side_effect=RowStates.of) as numbered,
    ):
        state = state_of(*(node(f"n{index}", **one) for index, one in enumerate(described)))
        records = attach_all(state, there, "there-")
        classes = [tables_for(state, one).scores for one in kinds]

        def check():
            for scores in classes:
                assert scores.totals().tolist() == row_by_row(scores)

        check()
        assert numbered.call_count >= len(dict.fromkeys(map(id, classes)))
        attach_all(state, later, "later-")
        check()
        for record in records:
            state.detach(record)
        check()
        state.drop_node(f"n{lost}")
        check()
        state.put_node(node(f"n{lost}", cpu="3"))
        check()


happenings = st.lists(
    st.one_of(
        st.tuples(st.just("comes"), sized_pods(), st.integers(0, ROWS - 1)),
        st.tuples(st.just("goes"), st.integers(0, 99), st.none()),
        st.tuples(st.just("node goes"), st.integers(0, ROWS - 1), st.none()),
        st.tuples(st.just("node comes"), st.integers(0, ROWS - 1), st.sampled_from(["1", "3"])),
    ),
    min_size=1,
    max_size=12,
)


def first_of_the_best(totals, turn):
    """Return the row that a pod takes if it looks at one row after the other, from `turn` on."""
    in_turn = [*range(turn, len(totals)), *range(min(turn, len(totals)))]
    best = max(totals)
    return next(row for row in in_turn if totals[row] == best) if best != REFUSED else None


@given(
    clusters,
    st.lists(sized_pods(), min_size=1, max_size=4),
    at_first,
    happenings,
    st.sampled_from([1, 4096]),
    st.lists(st.integers(0, 2 * ROWS), min_size=1, max_size=4),
)
def test_the_best_row_by_state_is_the_first_of_the_best_rows(
    described, kinds, there, happens, few_states, turns
):
    with (
        patch.object(row_states, "_FEW_READS", -1),
        patch.object(row_states, "_ROWS_PER_STATE", 0),
        patch.object(row_states, "_FEW_STATES", few_states),
        patch.object(row_states, "_MAX_STATES_PER_ROW", 0),
    ):
        state = state_of(*(node(f"n{index}", **one) for index, one in enumerate(described)))
        records = attach_all(state, there, "there-")
        classes = [tables_for(state, one).scores for one in kinds]
        for index, (what, one, where) in enumerate(happens):
            name = f"n{one}"
            if what == "comes":
                records += attach_all(state, [(one, where)], f"later-{index}-")
            elif what == "goes" and records:
                state.detach(records.pop(one % len(records)))
            elif what == "node goes" and name in state.nodes.row_of:
                state.drop_node(name)
            elif what == "node comes":
                state.put_node(node(name, cpu=where))
            for scores in classes[index % 2 :]:
                found = [scores.best_row_from(turn) for turn in turns]
                assert found == [first_of_the_best(row_by_row(scores), turn) for turn in turns]


def test_the_best_row_is_sought_among_states_once_several_classes_have_read_all_rows():
    state = state_of(*(node(f"n{index}", cpu="8") for index in range(ROWS)))
    with patch.object(RowStates, "of_all", autospec=True, side_effect=RowStates.of_all) as by_state:
        for index in range(6):
            scores = tables_for(state, pod(cpu=f"{index + 1}00m")).scores
            assert scores.best_row_from(5) == 5
        assert by_state.call_count == 3


def test_a_full_read_keeps_no_ranks():
    with patch.object(row_states, "_FEW_READS", -1):
        state = state_of(*(node(f"n{index}", cpu=f"{index + 1}") for index in range(ROWS)))
        scores = tables_for(state, pod(cpu="1")).scores
        assert scores.totals().max() > REFUSED
        assert state.context.states.count == ROWS
        assert scores._ranks is not None
        assert not scores._ranks._ranks.size


@pytest.mark.parametrize("gone", [0, 3])
def test_pods_of_many_classes_wait_for_the_first_node(gone):
    """No state of a node is known then, or none that a node is in."""
    vanished = [node(f"n{number}") for number in range(gone)]
    driver = Driver(*vanished)
    driver.lose(*vanished)
    waiting = [pod(f"p{number}", cpu=f"{number + 1}m") for number in range(8)]
    driver.see(*waiting)
    assert driver.bind() == {}
    driver.see(node("first"))
    assert driver.bind(after=400.0) == dict.fromkeys([one.metadata.name for one in waiting], "first")
