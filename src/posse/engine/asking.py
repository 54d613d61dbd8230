"""A group or a tree as a puzzle: what it wants, what is free, and which node or pod each number stands for.

A puzzle knows resources, which nodes are open to which pods, and topology keys. Where other rules decide as well, nothing is asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.arrays import IntArray
from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.decisions import GroupKey
from posse.engine.groups import GroupRecord
from posse.engine.minimum_resources import missing_resources
from posse.engine.proving import missing
from posse.engine.puzzle import NodeShape, Puzzle, Sort, Team
from posse.engine.questions import Question
from posse.engine.scene import Subject
from posse.engine.search.orders import MemberClass, classes_of
from posse.engine.topology.pinning import pin_of
from posse.engine.trees.tree import Branch, Part, Root, Tree, is_started

_MOST_CELLS = 50_000
"""Nodes times sorts of pods times groups; a question beyond that would not be answered in time."""
_MANY = 2**31
"""More pods than there are."""


@dataclass(frozen=True, slots=True)
class TeamName:
    """A group that a team of a puzzle stands for."""

    key: GroupKey
    minimum: int
    running: int
    """Pods that it has on nodes; the team is about the rest."""


@dataclass(frozen=True, slots=True)
class _Asking:
    """What a question is about."""

    state: ClusterState
    top: Part
    subjects: tuple[Subject, ...]
    keys: tuple[str, ...]

    @property
    def resources(self) -> list[int]:
        return sorted(dict.fromkeys(index for one in self.subjects for index, _ in one.pod_class.limited))

    def wanted(self, subject: Subject) -> tuple[int, ...]:
        amounts = dict(subject.pod_class.limited)
        return tuple(amounts.get(resource, 0) for resource in self.resources)

    def domains(self, rows: IntArray) -> IntArray:
        """By key, by row."""
        ids = [self.state.nodes.labels.column(key).ids[rows] for key in self.keys]
        return np.array(ids, dtype=np.int64).reshape(len(ids), rows.size)

    def team(self, part: Part) -> Team:
        key = self.keys.index(part.topology_key) if part.topology_key else None
        domain = self._pinned(part) if part.topology_key else None
        if isinstance(part, Branch):
            children = tuple(self.team(child) for child in _populated(part))
            return Team(part.minimum, children=children, key=key, domain=domain)
        sorts = [(self.subjects.index(subject), len(pods)) for subject, pods in _classes(self.state, part)]
        return Team(self._needed(part), tuple(sorts), key=key, domain=domain)

    def _needed(self, leaf: GroupRecord) -> int:
        # Whoever runs by itself is asked about for the sake of somebody new; in a tree, for the sake of the others.
        if leaf is not self.top and is_started(leaf):
            return 0
        return missing(leaf) if missing_resources(self.state, leaf) is None else _MANY

    def _pinned(self, part: Part) -> int | None:
        pin = pin_of(self.state, part)
        return (
            None if pin.value is None else self.state.nodes.labels.column(part.topology_key).id_of(pin.value)
        )


def question_of(state: ClusterState, root: Root) -> Question | None:
    """Whether any placement exists; None where rules matter that a puzzle does not know, or there is too much to look at."""
    about = _about(state, root)
    if about is None or not all(state.view(one).counts_by_resources for one in about.subjects):
        return None
    leaves = list(_leaves(about.top))
    room = np.array([state.view(subject).capacity() for subject in about.subjects])
    rows = np.flatnonzero(room.any(axis=0))
    if room[:, rows].size * len(leaves) > _MOST_CELLS:
        return None
    free = state.nodes.allocatable[about.resources][:, rows] - state.nodes.requested[about.resources][:, rows]
    sorts = [
        Sort(about.wanted(subject), tuple(line.tolist()))
        for subject, line in zip(about.subjects, room[:, rows], strict=True)
    ]
    return Question(
        Puzzle(_lines(free), tuple(sorts), about.team(about.top), _lines(about.domains(rows))),
        tuple(state.nodes.names[row] for row in rows),
        tuple(tuple(_uids(pods) for _, pods in _classes(state, leaf)) for leaf in leaves),
    )


def shapes_of(state: ClusterState, root: Root) -> tuple[NodeShape, ...]:
    """The sorts of nodes there are, as a question about the group sees them.

    Where it must be in one domain, those of the domain with most room for it come first; else the most frequent.
    """
    about = _about(state, root)
    rows = np.flatnonzero(state.nodes.alive & ~state.nodes.unschedulable)
    if about is None or not rows.size:
        return ()
    offered = state.nodes.allocatable[about.resources][:, rows]
    room = np.array([_room_when_empty(state, subject)[rows] for subject in about.subjects])
    domains = about.domains(rows)
    features = np.vstack((offered, room, domains))
    _, first, counts = np.unique(features, axis=1, return_index=True, return_counts=True)
    fitting = np.sum([state.view(subject).capacity()[rows] for subject in about.subjects], axis=0)
    order = sorted(
        (-int(fitting[np.all(domains == domains[:, [column]], axis=0)].sum()), -count, column)
        for column, count in zip(first.tolist(), counts.tolist(), strict=True)
    )
    return tuple(
        NodeShape(
            state.nodes.names[rows[column]],
            tuple(offered[:, column].tolist()),
            tuple(room[:, column].tolist()),
            tuple(domains[:, column].tolist()),
        )
        for _, _, column in order
    )


def teams_of(root: Root) -> tuple[TeamName, ...]:
    """Whom the teams of a puzzle stand for: from the root, parents first."""
    top = root.top if isinstance(root, Tree) else root
    if top is None:
        return ()
    running = (0 if isinstance(part, Branch) else part.attached_count for part in _parts(top))
    return tuple(
        TeamName(part.key, part.minimum, on_nodes)
        for part, on_nodes in zip(_parts(top), running, strict=True)
    )


def _about(state: ClusterState, root: Root) -> _Asking | None:
    """None where there is nothing to ask: the tree is not all there, or it has started and could only become larger."""
    top = root.top if isinstance(root, Tree) else root
    if top is None or (isinstance(top, Branch) and is_started(top)):
        return None
    subjects = dict.fromkeys(subject for leaf in _leaves(top) for subject, _ in _classes(state, leaf))
    keys = dict.fromkeys(part.topology_key for part in _parts(top) if part.topology_key)
    return _Asking(state, top, tuple(subjects), tuple(keys)) if subjects else None


def _parts(part: Part) -> Iterator[Part]:
    yield part
    for child in _populated(part) if isinstance(part, Branch) else ():
        yield from _parts(child)


def _populated(branch: Branch) -> Iterator[Part]:
    """Children that consist of groups of pods in the end; the others cannot start, and no puzzle knows them."""
    for child in branch.children:
        if not isinstance(child, Branch) or next(child.leaves(), None) is not None:
            yield child


def _leaves(part: Part) -> Iterator[GroupRecord]:
    return (one for one in _parts(part) if not isinstance(one, Branch))


def _classes(state: ClusterState, leaf: GroupRecord) -> list[MemberClass]:
    return classes_of(state, leaf.unattached())


def _uids(records: Sequence[PodRecord]) -> tuple[str, ...]:
    return tuple(record.ref.uid for record in records)


def _lines(matrix: IntArray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(line.tolist()) for line in matrix)


def _room_when_empty(state: ClusterState, subject: Subject) -> IntArray:
    room = np.where(state.view(subject).open_when_empty(), _MANY, 0)
    for index, wanted in subject.pod_class.limited:
        np.minimum(room, state.nodes.allocatable[index] // wanted, out=room)
    return room
