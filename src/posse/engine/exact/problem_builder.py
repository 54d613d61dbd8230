"""A group or a tree as a placement problem: demands, free capacity, and the node or pod of each number.

A problem models resources, the nodes allowed for pods, and topology keys. Where other rules decide as well,
nothing is asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.exact.questions import Question
from posse.engine.groups.part import Part, Root
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.gang.domain_pin import pin_of
from posse.engine.placement.gang.minimum_resources import minimum_demand, missing_resources
from posse.engine.placement.gang.proof import missing
from posse.engine.placement.search.fill import MemberClass, classes_of
from posse.engine.placement_problem import GroupDemand, Mix, PlacementProblem, PodSet
from posse.engine.rules.context import SchedulingClass
from posse.engine.rules.devices import DynamicResources
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord

_MAX_CELLS = 50_000
"""Classes of nodes times classes of pods times groups; larger questions would not be answered in time."""
_MAX_DEVICE_STATES = 64
_MAX_NUMBERS = 1_000_000
"""Numbers in a question: more take too long to encode."""


@dataclass(frozen=True, slots=True)
class ProblemBuilder:
    """The content of a question."""

    state: ClusterState
    top: Part
    scheduling_classes: tuple[SchedulingClass, ...]
    keys: tuple[str, ...]
    may_grow: bool = False
    """Capacity may be added: a group whose minResources are not free is not left out."""

    @property
    def is_modelled_when_empty(self) -> bool:
        """Whether resources and devices say how many pods any node takes, also one that is to come."""
        rules = [self.state.rules(one) for one in self.scheduling_classes]
        others = (name for one in rules for name in one.non_resource_rules if name != DynamicResources.name)
        is_counted = all(one.counts_by_resources or one.counts_by_node for one in rules)
        return is_counted and next(others, None) is None

    @property
    def is_modelled_with_devices(self) -> bool:
        """The same for problems with mixes, which say what pods find devices together."""
        return all(self.state.rules(one).counts_by_node for one in self.scheduling_classes)

    @property
    def unmodelled(self) -> tuple[str, ...]:
        """Rules that the problem cannot model."""
        return tuple(
            dict.fromkeys(
                name for one in self.scheduling_classes for name in self.state.rules(one).non_resource_rules
            )
        )

    def parts(self) -> Iterator[Part]:
        return _parts(self.state, self.top)

    def leaves(self) -> Iterator[Part]:
        return (one for one in self.parts() if not one.key.is_composite)

    @property
    def resources(self) -> list[int]:
        limited = (index for one in self.scheduling_classes for index, _ in one.pod_class.limited)
        minimums = (index for part in self.parts() for index, _ in self._minimum_resources(part))
        return sorted(dict.fromkeys((*limited, *minimums)))

    @property
    def states_minimum_resources(self) -> bool:
        return any(self._minimum_resources(part) for part in self.parts())

    def wanted(self, scheduling_class: SchedulingClass) -> tuple[int, ...]:
        amounts = dict(scheduling_class.pod_class.limited)
        return tuple(amounts.get(resource, 0) for resource in self.resources)

    def domains(self, rows: IntArray) -> IntArray:
        """By key, by row."""
        ids = [self.state.nodes.labels.column(key).ids[rows] for key in self.keys]
        return np.array(ids, dtype=np.int64).reshape(len(ids), rows.size)

    def demand(self, part: Part) -> GroupDemand:
        return self._demand(part, {index: number for number, index in enumerate(self.resources)})

    def _demand(self, part: Part, numbers: Mapping[int, int]) -> GroupDemand:
        """`numbers`: of the resources, by index."""
        key = self.keys.index(part.topology_key) if part.topology_key else None
        domain = self._pinned(part) if part.topology_key else None
        children = tuple(self._demand(child, numbers) for child in _able(self.state, part))
        minimum = tuple((numbers[index], amount) for index, amount in self._minimum_resources(part))
        return GroupDemand(missing(part), tuple(self._pod_sets(part)), children, key, domain, minimum)

    def _minimum_resources(self, part: Part) -> tuple[tuple[int, int], ...]:
        return (minimum_demand(self.state, part) or ()) if self.may_grow else ()

    def _pod_sets(self, part: Part) -> Iterator[tuple[int, int]]:
        """Number and size of each pod set; pods of a group that must not start are left out."""
        is_open = missing_resources(self.state, part) is None
        if self.may_grow:
            is_open = minimum_demand(self.state, part) is not None
        for scheduling_class, pods in _classes(self.state, part):
            yield self.scheduling_classes.index(scheduling_class), len(pods) if is_open else 0

    def _pinned(self, part: Part) -> int | None:
        pin = pin_of(self.state, part)
        return (
            None if pin.value is None else self.state.nodes.labels.column(part.topology_key).id_of(pin.value)
        )


def question_of(state: ClusterState, root: Root) -> Question | None:
    """The question whether any placement exists; None if it cannot be modelled or is too large."""
    asking = about(state, root)
    if asking is None or not asking.is_modelled_with_devices:
        return None
    room = np.array(
        [state.capacity(scheduling_class).per_node() for scheduling_class in asking.scheduling_classes]
    )
    rows = np.flatnonzero(room.any(axis=0))
    wanted, domains = asking.resources, asking.domains(rows)
    free = state.nodes.allocatable[wanted][:, rows] - state.nodes.requested[wanted][:, rows]
    limits = device_limits(asking, rows)
    if limits is None or not is_small(asking, np.vstack((free, room[:, rows], domains, *limits.features))):
        return None
    pod_sets = [
        PodSet(asking.wanted(scheduling_class), tuple(line.tolist()))
        for scheduling_class, line in zip(asking.scheduling_classes, room[:, rows], strict=True)
    ]
    demand = asking.demand(asking.top)
    return Question(
        PlacementProblem(
            lines(free), tuple(pod_sets), demand, lines(domains), limits.mixes, tuple(limits.mix_of)
        ),
        tuple(state.nodes.names[row] for row in rows),
        tuple(tuple(_uids(pods) for _, pods in _classes(state, leaf)) for leaf in asking.leaves()),
    )


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """Which pods find devices together on a node."""

    mixes: tuple[tuple[Mix, ...], ...] = ()
    mix_of: tuple[int, ...] = ()

    @property
    def features(self) -> list[IntArray]:
        """The properties of nodes that they add."""
        return [np.array(self.mix_of, dtype=np.int64)] if self.mix_of else []


def device_limits(asking: ProblemBuilder, rows: IntArray) -> DeviceLimits | None:
    """The limits by devices; None if there are too many to list."""
    needs = [one.pod_class.devices for one in asking.scheduling_classes]
    if not any(needs):
        return DeviceLimits()
    numbers = [0] * len(needs)
    for leaf in asking.leaves():
        for scheduling_class, pods in _classes(asking.state, leaf):
            numbers[asking.scheduling_classes.index(scheduling_class)] += len(pods)
    states = asking.state.devices.inventory.row_states()[rows]
    found, first, mix_of = np.unique(states, return_index=True, return_inverse=True)
    if found.size > _MAX_DEVICE_STATES:
        return None
    mixes: list[tuple[Mix, ...]] = []
    for row in rows[first].tolist():
        there = asking.state.devices.mixes(needs, numbers, row)
        if there is None:
            return None
        mixes.append(there)
    return DeviceLimits(tuple(mixes), tuple(mix_of.ravel().tolist()))


def is_small(asking: ProblemBuilder, features: IntArray) -> bool:
    """Whether an answer can be expected in time; `features` are the properties of each node, by column."""
    if features.size > _MAX_NUMBERS:
        return False
    shapes: int = np.unique(features, axis=1).shape[1]
    return shapes * len(asking.scheduling_classes) * len(list(asking.leaves())) <= _MAX_CELLS


def about(state: ClusterState, root: Root) -> ProblemBuilder | None:
    """The content of a question; None where there is nothing to ask.

    That holds for trees that are incomplete, or have started and could only grow, and for members in several
    domains.
    """
    top = root.top
    if top is None or (top.children and top.is_started) or _is_torn(state, top):
        return None
    return about_part(state, top)


def about_part(state: ClusterState, top: Part, above: Sequence[Part] = ()) -> ProblemBuilder | None:
    """The same for the parts below one that has started, confined to the domains of the parts above."""
    parts = list(_parts(state, top))
    scheduling_classes = dict.fromkeys(
        scheduling_class for part in parts for scheduling_class, _ in _classes(state, part)
    )
    keys = dict.fromkeys(part.topology_key for part in (*above, *parts) if part.topology_key)
    return ProblemBuilder(state, top, tuple(scheduling_classes), tuple(keys)) if scheduling_classes else None


def _parts(state: ClusterState, part: Part) -> Iterator[Part]:
    yield part
    for child in _able(state, part):
        yield from _parts(state, child)


def _able(state: ClusterState, part: Part) -> Iterator[Part]:
    """Children that could start. Started ones are counted instead; those that never will are left out."""
    for child in part.children:
        if child.leaves and not child.is_started and not _is_torn(state, child):
            yield child


def _is_torn(state: ClusterState, part: Part) -> bool:
    """Whether it must be in one domain, and has pods where it cannot continue."""
    return bool(part.topology_key and pin_of(state, part).error)


def _classes(state: ClusterState, part: Part) -> list[MemberClass]:
    return classes_of(state, part.own_unattached())


def _uids(records: Sequence[PodRecord]) -> tuple[str, ...]:
    return tuple(record.ref.uid for record in records)


def lines(matrix: IntArray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(line.tolist()) for line in matrix)
