"""Parts of the engine put together for a test: a node table, a cluster state, records of pods."""

from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.decisions import PodRef
from posse.engine.groups import group_of
from posse.engine.node_table import ALL_ROWS, NodeTable
from posse.engine.pod_class import ClassTable
from posse.engine.rules.registry import FILTERS, SCORES


def table_of(*nodes):
    table = NodeTable()
    for node in nodes:
        table.put(node)
    return table


def state_of(*nodes, filters=FILTERS, scores=SCORES):
    state = ClusterState(filters, scores)
    for node in nodes:
        state.put_node(node)
    return state


def record_of(state, pod, arrival=0):
    """Return the record of a pod, not yet attached anywhere."""
    meta = pod.metadata
    return PodRecord(
        pod=pod,
        ref=PodRef(meta.namespace, meta.name, meta.uid),
        pod_class=state.classes.join(pod),
        group=group_of(pod),
        created=meta.creation_timestamp,
        arrival=arrival,
    )


def records_of(state, pods):
    return [record_of(state, pod, arrival) for arrival, pod in enumerate(pods)]


def attached(state, pod, node):
    record = record_of(state, pod)
    state.attach_by_name(record, node)
    return record


def compiled(rule, pod, table):
    return rule.compile(ClassTable(table).join(pod), table)


def accepted(rule, pod, *nodes):
    """Return the names of the nodes that pass the rule for the pod."""
    table = table_of(*nodes)
    row_filter = compiled(rule, pod, table)
    if row_filter is None:
        return [node.metadata.name for node in nodes]
    passes = row_filter.passes(ALL_ROWS)
    return [name for row, name in enumerate(table.names) if passes[row]]


def reasons(row_filter, row):
    """Return the reasons the filter gives for one row."""
    return [reason for reason, holds in row_filter.refusals(ALL_ROWS) if holds[row]]
