"""Parts of the engine put together for a test: a node table, a cluster state, records of pods, compiled rules."""

from posse.engine.groups.forms import group_of
from posse.engine.keys import PodRef
from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.nodes.node_table import NodeTable
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord
from tests.support.builders import SCHEDULER


def table_of(*nodes):
    table = NodeTable()
    for node in nodes:
        table.put(node)
    return table


def state_of(*nodes, profile=DEFAULT_PROFILE):
    state = ClusterState({SCHEDULER: profile})
    for node in nodes:
        state.put_node(node)
    return state


def record_of(state, pod, arrival=0):
    """Return the record of a pod, not yet attached anywhere."""
    meta = pod.metadata
    pod_class, labels = state.classes.enroll(pod)
    return PodRecord(
        pod=pod,
        ref=PodRef(meta.namespace, meta.name, meta.uid),
        pod_class=pod_class,
        labels=labels,
        group=group_of(pod),
        created=meta.creation_timestamp,
        arrival=arrival,
        effective_priority=pod.spec.priority or 0,
    )


def records_of(state, pods):
    return [record_of(state, pod, arrival) for arrival, pod in enumerate(pods)]


def attached(state, pod, node):
    record = record_of(state, pod)
    state.attach_by_name(record, node)
    return record


def subject_of(state, pod):
    return state.scheduling_class(record_of(state, pod))


def tables_for(state, pod):
    return state.classes.tables(subject_of(state, pod))


def compiled(rule, pod, state):
    return rule.compile(subject_of(state, pod), state.context)


def accepted(rule, pod, *nodes):
    """Return the names of the nodes that pass the rule for the pod."""
    state = state_of(*nodes)
    row_filter = compiled(rule, pod, state)
    if row_filter is None:
        return [node.metadata.name for node in nodes]
    passes = row_filter.passes(ALL_ROWS)
    return [name for row, name in enumerate(state.nodes.names) if passes[row]]


def reasons(row_filter, row):
    """Return the reasons the filter gives for one row."""
    return [reason for reason, holds in row_filter.refusals(ALL_ROWS) if holds[row]]
