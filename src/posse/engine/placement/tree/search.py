"""Search for ways to start a tree: which of its groups start, and where, each at exactly its minimum.

First comes the documented order: groups by age, each in its best place. When a group finds none, earlier
groups are moved or left out, the latest first, until all required groups start or the step limit is reached.
Identical groups are never exchanged for each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from posse.engine.groups.part import Part
from posse.engine.placement.gang.minimum_resources import missing_resources
from posse.engine.placement.search.fill import Fill, MemberClass, classes_of, fill, fill_tightly, other_ways
from posse.engine.placement.tree.domains import Rows, inside, places
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.pod_record import PodRecord

_PER_MILLION = 1_000_000
_STEPS_FOR_ONE = 30
"""Step limit for starting one optional group."""


@dataclass(slots=True)
class TreeSearch:
    state: ClusterState
    draft: Draft
    steps_left: int
    """How many more pod groups may be tried; the search stops with what it has found by then."""
    further_steps: int
    """The same for optional groups, independent of the steps that the required ones took."""
    largest_first: bool = False
    """Largest groups first; otherwise the oldest come first."""
    _likeness_of: dict[int, int] = field(default_factory=dict)
    _likenesses: dict[tuple[object, ...], int] = field(default_factory=dict)

    def ways(self, part: Part, rows: Rows) -> Iterator[None]:
        """Yields with the part started in the draft, each time differently; restores the draft at the end."""
        if part.is_started and not part.children:
            yield
            return
        ways = self._ways_of_children if part.children else self._ways_of_pods
        for within in places(self.state, part, rows):
            yield from ways(part, within)

    def start_further(self, part: Part, rows: Rows) -> None:
        """Start optional groups that fit, below groups that have started."""
        if not part.children or not part.unattached():
            return
        for within in self._until_placed(part, rows):
            for child in part.children:
                if not child.is_started and child.is_admissible:
                    self._start_if_possible(child, within)
            for child in part.children:
                if child.is_started:
                    self.start_further(child, within)

    def _start_if_possible(self, child: Part, rows: Rows) -> None:
        """Start the child with a share of the steps that leaves some for the children after it."""
        share = min(self.further_steps, _STEPS_FOR_ONE)
        self.steps_left = share
        next(self.ways(child, rows), None)
        self.further_steps -= share - self.steps_left

    def fill_up(self, part: Part, rows: Rows) -> None:
        """Place all pods that fit of groups that have started and not finished."""
        if not part.unattached() or not part.is_started or _is_closed(self.state, part):
            return
        for within in self._until_placed(part, rows):
            for child in part.children:
                self.fill_up(child, within)
            with inside(self.state, within):
                for scheduling_class, records in classes_of(self.state, part.own_unattached()):
                    fill(self.state, self.draft, scheduling_class, records)

    def _until_placed(self, part: Part, rows: Rows) -> Iterator[Rows]:
        """Places for more pods of a started part, up to the first in which one of its pods is placed.

        The part may still be free to choose: its pods have finished, or are on unknown nodes.
        """
        before = self.draft.checkpoint()
        for within in places(self.state, part, rows):
            yield within
            if self.draft.checkpoint() > before:
                return

    def _ways_of_pods(self, part: Part, rows: Rows) -> Iterator[None]:
        members = part.own_unattached()
        needed = part.minimum - part.started_count
        is_possible = len(members) >= needed and not _is_closed(self.state, part)
        for classes, way in self._orders(members) if is_possible else ():
            if self.steps_left <= 0:
                return
            self.steps_left -= 1
            before = self.draft.checkpoint()
            with inside(self.state, rows):
                placed = self._fill(classes, way, needed)
            if placed == needed:
                yield
            self.draft.roll_back(before)
            if placed < needed and len(classes) == 1:
                # Identical pods are counted exactly; where they go affects only others.
                return

    def _orders(self, members: Sequence[PodRecord]) -> Iterator[tuple[Sequence[MemberClass], Fill]]:
        classes = classes_of(self.state, members)
        yield classes, fill
        if len(classes) == 1:
            yield classes, fill_tightly
        yield from other_ways(self.state, classes)

    def _fill(self, classes: Sequence[MemberClass], way: Fill, most: int) -> int:
        placed = 0
        for scheduling_class, records in classes:
            wanted = records[: most - placed]
            placed += way(self.state, self.draft, scheduling_class, wanted) if wanted else 0
        return placed

    def _ways_of_children(self, part: Part, rows: Rows) -> Iterator[None]:
        """Start as many children as the minimum requires."""
        children = self._in_order(part.children)
        needed = part.minimum - part.started_count
        are_interchangeable = self._are_interchangeable(children)
        before = self.draft.checkpoint()
        chosen: list[_Chosen] = []
        position = 0
        left_out: tuple[int, ...] = ()
        while True:
            if len(chosen) >= needed:
                # Others may want them elsewhere: from now on it matters where each goes.
                are_interchangeable = False
                yield
            elif len(chosen) + len(children) - position >= needed:
                child = children[position]
                likeness, position = self._likeness(child), position + 1
                begun = _Chosen(position, self.ways(child, rows), left_out, likeness)
                if likeness not in left_out and begun.goes_on():
                    chosen.append(begun)
                else:
                    left_out = (*left_out, likeness)
                continue
            # The chosen children allow nothing more: the last one goes elsewhere, or is left out.
            if not chosen:
                return
            if are_interchangeable:
                self.draft.roll_back(before)
                return
            last = chosen[-1]
            position, left_out = last.position, last.left_out
            if not last.goes_on():
                chosen.pop()
                left_out = (*left_out, last.likeness)

    def _are_interchangeable(self, children: Sequence[Part]) -> bool:
        """Whether all are equal groups of equal pods: wherever each goes, as many start as ever can."""
        if not children:
            return False
        one, likeness = children[0], self._likeness(children[0])
        return (
            all(self._likeness(child) == likeness for child in children)
            and not one.children
            and not one.topology_key
            and not one.minimum_resources
            and len(classes_of(self.state, one.own_unattached())) == 1
        )

    def _in_order(self, children: Sequence[Part]) -> list[Part]:
        able = [child for child in children if not child.is_started and child.is_admissible]
        return sorted(able, key=self._size, reverse=True) if self.largest_first else able

    def _size(self, part: Part) -> int:
        """The smallest share of the cluster that the part takes, of its dominant resource."""
        sizes = sorted(self._size(child) for child in part.children)
        return sum(sizes[: part.minimum]) + self._size_of_pods(part)

    def _size_of_pods(self, part: Part) -> int:
        amounts = self.state.nodes.allocatable.sum(axis=1).tolist()
        members = part.own_unattached()[: max(part.minimum - part.started_count, 0)]
        taken: dict[int, int] = {}
        for record in members:
            for index, wanted in record.pod_class.requests:
                taken[index] = taken.get(index, 0) + wanted
        return max((_PER_MILLION * total // max(amounts[i], 1) for i, total in taken.items()), default=0)

    def _likeness(self, part: Part) -> int:
        """Equal for parts that are interchangeable."""
        known = self._likeness_of.get(id(part))
        if known is None:
            description = self._description(part)
            known = self._likenesses.setdefault(description, len(self._likenesses))
            self._likeness_of[id(part)] = known
        return known

    def _description(self, part: Part) -> tuple[object, ...]:
        if any(record.node for record in part.members.values()):
            return (part.key,)
        children = sorted(self._likeness(child) for child in part.children)
        classes = classes_of(self.state, part.own_unattached())
        sizes = ((scheduling_class, len(records)) for scheduling_class, records in classes)
        resources = sorted(part.minimum_resources.items())
        return part.topology_key, part.minimum, *children, *resources, *sizes


def _is_closed(state: ClusterState, part: Part) -> bool:
    """Whether no pod of a pod group may be placed, whatever capacity is free."""
    return part.is_over or missing_resources(state, part) is not None


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A child that has started, with its other possible placements and the children left out before it."""

    position: int
    """The position after it."""
    ways: Iterator[None]
    left_out: tuple[int, ...]
    likeness: int

    def goes_on(self) -> bool:
        """Start it in the next way; False, and not started, if there is none."""
        return next(self.ways, _END) is not _END


_END = object()
