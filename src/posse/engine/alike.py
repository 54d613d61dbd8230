"""Groups that are alike: where one of them has just started, the next in the queue follow in one step.

Exactly what trying one after the other gives. Pods are placed one by one in any case, wherever one group ends and the next
begins; and the domain that was the best for the first is only fuller for the next, which makes it no worse, as long as
it has room for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.arrays import IntArray
from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.draft import Draft
from posse.engine.groups import GroupRecord
from posse.engine.invariants import ensure, no_gang_across_domains
from posse.engine.scene import Subject
from posse.engine.search.fill import fill


@dataclass(frozen=True, slots=True)
class Pattern:
    """Groups that share it need the same in every respect that decides where they go."""

    subject: Subject
    size: int
    topology_key: str


def pattern_of(state: ClusterState, group: GroupRecord) -> Pattern | None:
    """None if the group goes its own way: its members differ, some have a place or a claim to one, or more than room counts."""
    members = list(group.members.values())
    subject = _common_subject(state, members)
    if subject is None or group.minimum_resources or not all(map(_is_free, members)):
        return None
    if state.profile(subject.pod_class).group_rules or not state.view(subject).counts_by_resources:
        return None
    return Pattern(subject, len(members), group.topology_key)


def _is_free(record: PodRecord) -> bool:
    return not (record.node or record.nominated or record.pod.metadata.deletion_timestamp)


def _common_subject(state: ClusterState, members: Sequence[PodRecord]) -> Subject | None:
    first = members[0]
    subject = state.subject(first)
    for record in members:
        if record.pod_class is not first.pod_class:
            return None
        if record.labels is not first.labels and state.subject(record) != subject:
            return None
    return subject


@dataclass(frozen=True, slots=True)
class Wake:
    """What a group that has started leaves for those that follow it."""

    pattern: Pattern
    groups: int
    """How many more like it fit."""
    rows: IntArray | None
    """Where; None for the whole cluster."""


def wake_of(state: ClusterState, pattern: Pattern, node: str) -> Wake:
    """Behind a group of which a member is on this node."""
    view = state.view(pattern.subject)
    if not pattern.topology_key:
        return Wake(pattern, int(view.capacity().sum()) // pattern.size, None)
    domains = state.domains(pattern.topology_key)
    row = np.array([state.nodes.row_of[node]])
    number = int(domains.numbers_at(domains.places_of(row, state.nodes.alive.size))[0])
    return Wake(pattern, int(view.most_in(domains)[number]) // pattern.size, domains.rows(number))


def follow(state: ClusterState, wake: Wake, groups: Sequence[GroupRecord]) -> list[tuple[PodRecord, ...]]:
    """Place no more groups than fit; returns the members of each."""
    members = [tuple(group.unattached()) for group in groups]
    if not members:
        return []
    records = [record for together in members for record in together]
    draft = Draft(state)
    if wake.rows is None:
        placed = fill(state, draft, wake.pattern.subject, records)
    else:
        with state.confined(wake.rows):
            placed = fill(state, draft, wake.pattern.subject, records)
        values = _domains_of(state, wake.pattern.topology_key, records)
        no_gang_across_domains([group.key for group in groups], values)
    ensure(placed == len(records), "room that was counted is there", placed=placed, counted=len(records))
    draft.commit()
    return members


def _domains_of(state: ClusterState, key: str, records: Sequence[PodRecord]) -> list[str]:
    column = state.nodes.labels.column(key)
    rows = [state.nodes.row_of[record.node] for record in records]
    return [str(column.values[one]) for one in np.unique(column.ids[rows]).tolist()]
