"""Nodes that are equal for all members of a group, so that trying one of them is enough.

Equal nodes have the same free capacity, allow the same members, are in the same domains, and have the same
pods as far as the members' rules count any. Where each node is its own domain, as with host names, that alone
makes no difference.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from posse.engine.nodes.arrays import ALL_ROWS, IntArray
from posse.engine.nodes.node_selectors import required_affinity_test
from posse.engine.pods.affinity_terms import RepellingTerm
from posse.engine.pods.domain_counts import has_domain
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState


def equal_nodes(state: ClusterState, scheduling_classes: Sequence[SchedulingClass]) -> IntArray:
    """A number for each row; rows with the same number are equal."""
    own = np.arange(state.nodes.alive.size)
    needs = [one.pod_class.devices for one in scheduling_classes if one.pod_class.devices is not None]
    if any(one.spans_nodes for one in needs) or any(
        state.rules(scheduling_class).uncountable_rules for scheduling_class in scheduling_classes
    ):
        return own
    features = [
        *_resources(state, scheduling_classes),
        *_openness(state, scheduling_classes),
        *_domains(state, scheduling_classes),
    ]
    features += _pods(state, scheduling_classes)
    features += [state.devices.inventory.row_states()] if needs else []
    _, numbers = np.unique(np.array(features), axis=1, return_inverse=True)
    return numbers.reshape(own.size).astype(np.int64)


def _resources(state: ClusterState, scheduling_classes: Sequence[SchedulingClass]) -> Iterator[IntArray]:
    wanted = dict.fromkeys(
        index for scheduling_class in scheduling_classes for index, _ in scheduling_class.pod_class.limited
    )
    for index in wanted:
        yield state.nodes.allocatable[index] - state.nodes.requested[index]


def _openness(state: ClusterState, scheduling_classes: Sequence[SchedulingClass]) -> Iterator[IntArray]:
    yield state.nodes.taint_set
    for scheduling_class in scheduling_classes:
        yield state.capacity(scheduling_class).open_when_empty().astype(np.int64)
        affinity = required_affinity_test(state.nodes, scheduling_class.pod_class.spec)
        if affinity is not None and scheduling_class.pod_class.terms.hard_spread:
            # By affinity and taints, nodes may count for the spreading of pods that they refuse anyway.
            yield affinity(ALL_ROWS).astype(np.int64)


def _domains(state: ClusterState, scheduling_classes: Sequence[SchedulingClass]) -> Iterator[IntArray]:
    for key in dict.fromkeys(
        key for scheduling_class in scheduling_classes for key in _keys(scheduling_class)
    ):
        column = state.nodes.labels.column(key)
        yield has_domain(column).astype(np.int64) if column.is_one_to_one else column.ids


def _keys(scheduling_class: SchedulingClass) -> Iterator[str]:
    terms = scheduling_class.pod_class.terms
    yield from (term.topology_key for term in (*terms.required, *terms.forbidden))
    yield from (spread.topology_key for spread in terms.hard_spread)
    yield from (
        one.term.topology_key for one in scheduling_class.matched_by if isinstance(one, RepellingTerm)
    )


def _pods(state: ClusterState, scheduling_classes: Sequence[SchedulingClass]) -> Iterator[IntArray]:
    census = state.census
    for query in dict.fromkeys(
        query for scheduling_class in scheduling_classes for query in scheduling_class.pod_class.queries
    ):
        yield census.column(query).counts
    for trait in dict.fromkeys(
        trait for scheduling_class in scheduling_classes for trait in scheduling_class.matched_by
    ):
        column = census.trait(trait)
        if column is not None:
            yield column.counts
    if any(scheduling_class.pod_class.ports for scheduling_class in scheduling_classes):
        yield from (column.counts for column in census.ports())
