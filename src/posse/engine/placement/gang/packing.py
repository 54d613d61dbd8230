"""Places groups and pods in as few domains as possible, in the tightest that suffice; others stay whole.

For each level of topology, from the narrowest to the widest, one domain for all is looked for. Without one,
the members share the fewest domains of the widest level, and in each of these the same is done again. Nodes
are the last level. Where rules other than resources decide between nodes, only the domains are chosen here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.groups.group_record import GroupRecord
from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.topology_domains import Domains
from posse.engine.placement.gang.domain_bounds import bounds
from posse.engine.placement.gang.member_pass import Pass, pass_if_possible
from posse.engine.placement.search.fewest_domains import fewest_new_domains
from posse.engine.placement.search.fill import MemberClass, fill
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.pod_record import PodRecord


def packed_pass(
    state: ClusterState, draft: Draft, group: GroupRecord, classes: Sequence[MemberClass]
) -> Pass | None:
    """Place all members; None, with the draft as before, if that fails.

    What the group prefers comes before the levels of its profile. Nodes are packed only if the profile does.
    """
    policy = state.profile(classes[0][0].pod_class).packing
    keys = group.preferred_topology or (policy.topology_keys if policy is not None else ())
    wanted = sum(len(records) for _, records in classes)
    if len(classes) > 1 and not group.attached_count:
        # Members of one class find their domain themselves, and so do members that join others.
        for depth in reversed(range(len(keys))):
            made = _pass_in_one(state, draft, group, classes, keys[depth:])
            if made is not None:
                return made
    made = pass_if_possible(state, draft, group, classes, Packing(keys, group))
    if made.placed == wanted:
        return made
    made.undo()
    return None


def _pass_in_one(
    state: ClusterState,
    draft: Draft,
    group: GroupRecord,
    classes: Sequence[MemberClass],
    keys: Sequence[str],
) -> Pass | None:
    """All members in the tightest domain of the first key that takes all."""
    wanted = sum(len(records) for _, records in classes)
    seen = bounds(state, keys[0], classes)
    tightest = tightest_of(state, seen.domains, classes, np.greater_equal(seen.counts, wanted))
    if not tightest.any():
        return None
    with state.confined(seen.domains.rows(int(np.argmax(tightest)))):
        made = pass_if_possible(state, draft, group, classes, Packing(keys[1:], group))
    if made.placed == wanted:
        return made
    made.undo()
    return None


def tightest_of(
    state: ClusterState, domains: Domains, classes: Sequence[MemberClass], among: BoolArray
) -> BoolArray:
    """Those of the domains that have the least capacity for pods of these classes."""
    free = np.zeros(len(domains), dtype=np.int64)
    for scheduling_class, _ in classes:
        free += state.capacity(scheduling_class).upper_bound_in(domains)
    least: BoolArray = np.equal(free, free[among].min(initial=np.iinfo(np.int64).max))
    return among & least


def pack_singly(
    state: ClusterState, draft: Draft, scheduling_class: SchedulingClass, records: Sequence[PodRecord]
) -> int:
    """Place pods without a group one after the other, each like a group of one; returns how many fit."""
    policy = state.profile(scheduling_class.pod_class).packing
    keys = policy.topology_keys if policy is not None else ()
    search = _PackedSearch(state, draft, scheduling_class, np.empty(0, dtype=np.int64))
    for placed, record in enumerate(records):
        if not (search.place([record], keys) or fill(state, draft, scheduling_class, [record])):
            return placed
    return len(records)


@dataclass(frozen=True, slots=True)
class Packing:
    """A way to fill: equal pods of a group go into the fewest domains, those of other members first."""

    keys: Sequence[str]
    """Labels of topology levels, the widest first."""
    group: GroupRecord

    def __call__(
        self,
        state: ClusterState,
        draft: Draft,
        scheduling_class: SchedulingClass,
        records: Sequence[PodRecord],
    ) -> int:
        rows = [state.nodes.row_of.get(record.node) for record in self.group.members.values() if record.node]
        near = np.array([row for row in rows if row is not None], dtype=np.int64)
        search = _PackedSearch(state, draft, scheduling_class, near)
        placed = search.place(records, self.keys)
        # Bounds may promise too much, and nodes may lack the labels.
        return placed + (
            fill(state, draft, scheduling_class, records[placed:]) if placed < len(records) else 0
        )


class _PackedSearch:
    def __init__(
        self, state: ClusterState, draft: Draft, scheduling_class: SchedulingClass, near: IntArray
    ) -> None:
        self._state = state
        self._draft = draft
        self._class = scheduling_class
        self._near = near
        """Rows of members that are on nodes."""
        self._by_node = (
            state.profile(scheduling_class.pod_class).packing is not None
            and state.rules(scheduling_class).counts_by_resources
            and state.scores(scheduling_class).is_row_local
        )
        """Whether nodes are packed, and capacity decides alone how many pods go to a node."""

    def place(self, records: Sequence[PodRecord], keys: Sequence[str]) -> int:
        """Place as many as fit in domains of these keys, within the search scope; returns how many."""
        levels = [(depth, self._state.domains(key)) for depth, key in enumerate(keys, start=1)]
        levels = [(depth, domains) for depth, domains in levels if len(domains)]
        for depth, domains in reversed(levels):
            free = self._state.capacity(self._class).upper_bound_in(domains)
            in_use = domains.numbers_at(domains.places_of(self._near, self._state.nodes.alive.size))
            numbers = fewest_new_domains(free, len(records), in_use)
            takes_all = len(numbers) == 1 and free[numbers[0]] >= len(records)
            if takes_all or depth == levels[0][0]:
                shares = [(domains.rows(number), int(free[number])) for number in numbers]
                return self._place_in(shares, records, keys[depth:])
        return self._place_on_nodes(records)

    def _place_in(
        self, shares: Sequence[tuple[IntArray, int]], records: Sequence[PodRecord], keys: Sequence[str]
    ) -> int:
        """Place pods in one domain after the other, in each as many as it can take."""
        placed = 0
        for rows, most in shares:
            here = records[placed : placed + most]
            with self._state.confined(rows):
                placed += self.place(here, keys) if here else 0
        return placed

    def _place_on_nodes(self, records: Sequence[PodRecord]) -> int:
        if not self._by_node:
            return fill(self._state, self._draft, self._class, records)
        rows = self._state.in_order(np.flatnonzero(self._state.usable()))
        free = self._state.capacity(self._class).upper_bound_on(rows)
        chosen = fewest_new_domains(free, len(records), np.flatnonzero(np.isin(rows, self._near)))
        turns = np.repeat(rows[chosen], np.minimum(free[chosen], len(records)))[: len(records)]
        if turns.size:
            self._draft.place(records[: turns.size], turns)
        return int(turns.size)
