"""Columns kept up to date row by row, through any history of nodes and pods, equal columns computed from scratch."""

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.nodes import row_states
from posse.engine.nodes.node_table import NodeTable
from posse.engine.pods.pod_class import ClassTable
from posse.engine.pods.policy import PodReader
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.state.class_registry import ClassTables
from posse.engine.state.node_scores import FEW, REFUSED
from tests.differential import oracle, oracle_reference
from tests.differential.strategies import NODE_NAMES, nodes, pod_named, pods, sized_pods
from tests.support.builders import node
from tests.support.engine_parts import record_of, state_of, subject_of

steps = st.one_of(
    st.sampled_from(NODE_NAMES).flatmap(nodes).map(lambda made: ("put", made)),
    st.tuples(st.just("drop"), st.sampled_from(NODE_NAMES)),
    st.tuples(st.just("attach"), st.one_of(sized_pods(), pods()), st.sampled_from(NODE_NAMES)),
    st.tuples(st.just("detach"), st.integers(0, 20)),
    st.tuples(st.just("look"), st.integers(0, 1)),
    st.tuples(st.just("crowd"), st.integers(60, 70)),
)


class History:
    """A state that changes step by step, and the same world as plain dicts."""

    def __init__(self, lookers):
        self.state = state_of()
        self.lookers = [(one, subject_of(self.state, one)) for one in lookers]
        self.nodes = {}
        self.attached = []
        self.arrivals = 0

    def apply(self, step):
        kind, *arguments = step
        getattr(self, kind)(*arguments)

    def put(self, made):
        self.state.put_node(made)
        self.nodes[made.metadata.name] = made

    def drop(self, name):
        self.state.drop_node(name)
        self.nodes.pop(name, None)

    def attach(self, pod, name):
        self.arrivals += 1
        record = record_of(self.state, pod_named(pod, f"attached-{self.arrivals}"))
        self.state.attach_by_name(record, name)
        self.attached.append(record)

    def detach(self, which):
        if self.attached:
            self.state.detach(self.attached.pop(which % len(self.attached)))

    def crowd(self, count):
        """More nodes than the table first has room for."""
        for ordinal in range(count):
            self.put(node(f"crowd-{ordinal}", cpu="2"))

    def look(self, which):
        """A query comes in between, so that what follows is brought up to date from here."""
        self.state.scores(self.lookers[which % len(self.lookers)][1]).totals()


def neighbours_of(history, name):
    return [record.pod for record in history.attached if record.node == name]


@given(st.lists(st.one_of(sized_pods(), pods()), min_size=1, max_size=2), st.lists(steps, max_size=25))
def test_totals_after_any_history_equal_fresh_ones_and_their_twin(lookers, history_steps):
    history = History(lookers)
    for step in history_steps:
        history.apply(step)
    table = history.state.nodes
    world = [(made, neighbours_of(history, name)) for name, made in history.nodes.items()]
    for pod, scheduling_class in history.lookers:
        tables = history.state.classes.tables(scheduling_class)
        fresh = ClassTables(scheduling_class, history.state.context, DEFAULT_PROFILE)
        assert tables.scores.totals().tolist() == fresh.scores.totals().tolist()
        assert tables.capacity.per_node().tolist() == fresh.capacity.per_node().tolist()
        expected = oracle_reference.totals(pod, world)
        found = {name: int(tables.scores.totals()[row]) for name, row in table.row_of.items()}
        assert {name for name, total in found.items() if total != REFUSED} == set(expected)
        assert len({found[name] - total for name, total in expected.items()}) <= 1


places = st.lists(st.integers(0, 39), min_size=FEW + 1, max_size=18, unique=True)
"""Of 40 nodes: more rows than are looked up one by one, fewer than are all computed."""


@given(st.lists(st.tuples(sized_pods(), places), min_size=2, max_size=6), st.sampled_from((3, 50_000)))
def test_ranks_remembered_by_the_state_of_a_row_equal_fresh_ones(waves, most):
    state = state_of(*(node(f"n{number}", cpu=str(2 + number % 3), memory="4Gi") for number in range(40)))
    lookers = [subject_of(state, pod) for pod, _ in waves]
    with mock.patch.object(row_states, "MAX_STATES", most):
        for wave, (pod, rows) in enumerate(waves):
            for row in rows:
                name = state.nodes.names[row]
                state.attach_by_name(record_of(state, pod_named(pod, f"p{wave}-{row}")), name)
            for looker in lookers:
                fresh = ClassTables(looker, state.context, DEFAULT_PROFILE)
                assert state.scores(looker).totals().tolist() == fresh.scores.totals().tolist()


@given(st.lists(steps, max_size=25))
def test_the_table_after_any_history_equals_one_filled_once(history_steps):
    history = History([])
    for step in history_steps:
        if step[0] != "look":
            history.apply(step)
    table = history.state.nodes
    assert sorted(table.row_of) == sorted(history.nodes)
    assert int(table.alive.sum()) == len(history.nodes) == len(table)
    for name, made in history.nodes.items():
        row = table.row_of[name]
        assert table.nodes[row] == made
        assert row_content(table, row) == row_content(*once(made, neighbours_of(history, name)))


def once(made, neighbours):
    """Return a table with this node only, and its row."""
    state = state_of(made)
    for index, pod in enumerate(neighbours):
        state.attach_by_name(record_of(state, pod_named(pod, f"p{index}")), made.metadata.name)
    return state.nodes, 0


def row_content(table, row):
    amounts = {
        name: (int(table.allocatable[index, row]), int(table.requested[index, row]))
        for name, index in table.resource_index.items()
    }
    return (
        {name: both for name, both in amounts.items() if both != (0, 0)},
        table.scoring_requested[:, row].tolist(),
        bool(table.unschedulable[row]),
        table.taint_sets[table.taint_set[row]],
        table.names[row],
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=400))
def test_the_log_of_touches_never_loses_one(touches):
    """A copy that is brought up to date from the log equals the table, however seldom that happens."""
    table = NodeTable()
    for ordinal in range(10):
        table.put(node(f"n{ordinal}"))
    counts, copy, version = [0] * 10, [0] * 10, table.version
    for row, looks in touches:
        table.touch(row)
        counts[row] += 1
        if looks:
            rows = table.touched_since(version)
            for touched in range(10) if rows is None else rows.tolist():
                copy[touched] = counts[touched]
            version = table.version
            assert copy == counts


@given(st.lists(st.one_of(sized_pods(), pods()), max_size=6))
def test_pods_of_one_class_are_equal_to_the_twin(drawn):
    table = ClassTable(NodeTable(), PodReader({}))
    for one in drawn:
        for other in drawn:
            if table.join(one) is table.join(other):
                assert oracle.effective_requests(one) == oracle.effective_requests(other)
                for made in (node("a"), node("b", cpu="1", labels={"zone": "east"})):
                    assert oracle.refusals(one, made, []) == oracle.refusals(other, made, [])
