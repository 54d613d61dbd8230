"""Which nodes are equal to all members of a group, so that trying one of them in the place of another is no other try.

Equal are nodes of the same room, open to the same members, in the same domains, and with the same pods as far as the rules
of these members count any. Where each node is a domain of its own, as with host names, that alone does not tell them apart.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from posse.engine.arrays import ALL_ROWS, IntArray
from posse.engine.cluster_state import ClusterState
from posse.engine.domains import has_domain
from posse.engine.node_selection import required_affinity_test
from posse.engine.pod_terms import RepellingTerm
from posse.engine.scene import Subject


def equal_nodes(state: ClusterState, subjects: Sequence[Subject]) -> IntArray:
    """A number for each row; rows with one number are equal."""
    own = np.arange(state.nodes.alive.size)
    if any(state.view(subject).beyond_census for subject in subjects):
        return own
    features = [*_resources(state, subjects), *_openness(state, subjects), *_domains(state, subjects)]
    features += _pods(state, subjects)
    _, numbers = np.unique(np.array(features), axis=1, return_inverse=True)
    return numbers.reshape(own.size).astype(np.int64)


def _resources(state: ClusterState, subjects: Sequence[Subject]) -> Iterator[IntArray]:
    wanted = dict.fromkeys(index for subject in subjects for index, _ in subject.pod_class.limited)
    for index in wanted:
        yield state.nodes.allocatable[index] - state.nodes.requested[index]


def _openness(state: ClusterState, subjects: Sequence[Subject]) -> Iterator[IntArray]:
    yield state.nodes.taint_set
    for subject in subjects:
        yield state.view(subject).open_when_empty().astype(np.int64)
        affinity = required_affinity_test(state.nodes, subject.pod_class.spec)
        if affinity is not None and subject.pod_class.terms.hard_spread:
            # By this and by taints nodes may count, or not, for the spreading of pods that they are closed to anyway.
            yield affinity(ALL_ROWS).astype(np.int64)


def _domains(state: ClusterState, subjects: Sequence[Subject]) -> Iterator[IntArray]:
    for key in dict.fromkeys(key for subject in subjects for key in _keys(subject)):
        column = state.nodes.labels.column(key)
        yield has_domain(column).astype(np.int64) if column.is_one_to_one else column.ids


def _keys(subject: Subject) -> Iterator[str]:
    terms = subject.pod_class.terms
    yield from (term.topology_key for term in (*terms.required, *terms.forbidden))
    yield from (spread.topology_key for spread in terms.hard_spread)
    yield from (one.term.topology_key for one in subject.concerned_by if isinstance(one, RepellingTerm))


def _pods(state: ClusterState, subjects: Sequence[Subject]) -> Iterator[IntArray]:
    census = state.census
    for query in dict.fromkeys(query for subject in subjects for query in subject.pod_class.queries):
        yield census.column(query).counts
    for trait in dict.fromkeys(trait for subject in subjects for trait in subject.concerned_by):
        column = census.trait(trait)
        if column is not None:
            yield column.counts
    if any(subject.pod_class.ports for subject in subjects):
        yield from (column.counts for _, column in census.ports())
