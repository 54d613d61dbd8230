"""Groups about which the search is in doubt are put as a question to an exact one, outside; here is who asks what.

A question is a puzzle together with what its numbers stand for. While it is open the group waits; the answer is tried on the
cluster as it is by then, and holds as a proof only if the same question would be asked again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from posse.engine.arrays import IntArray
from posse.engine.cluster_state import ClusterState
from posse.engine.decisions import GroupKey, Solve
from posse.engine.events import Solved
from posse.engine.groups import GroupRecord
from posse.engine.proving import missing
from posse.engine.puzzle import NodeShape, Outcome, Puzzle, Solution, Sort, Team
from posse.engine.search.orders import MemberClass, classes_of
from posse.engine.topology.pinning import pin_of

_MOST_CELLS = 50_000
"""Nodes times sorts of pods; a question beyond that would not be answered in time."""
_MOST_IN_A_ROW = 3
"""A cluster that changes faster than questions are answered does not keep a group waiting for ever."""


@dataclass(frozen=True, slots=True)
class Question:
    puzzle: Puzzle
    nodes: tuple[str, ...]
    members: tuple[tuple[tuple[str, ...], ...], ...]
    """Uids by team of pods, by sort."""

    def plan(self, solution: Solution) -> dict[str, str]:
        """Where pods go, by uid."""
        return dict(self._places(solution))

    def _places(self, solution: Solution) -> Iterator[tuple[str, str]]:
        for team, shares in zip(self.members, solution.shares, strict=True):
            for uids, share in zip(team, shares, strict=True):
                nodes = (self.nodes[node] for node, number in share for _ in range(number))
                yield from zip(uids, nodes, strict=False)


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    solution: Solution

    @property
    def plan(self) -> dict[str, str]:
        return self.question.plan(self.solution) if self.solution.outcome is Outcome.PLACED else {}

    def settles(self, question: Question) -> bool:
        """Whether what was found out about the cluster then is true of it now."""
        return question.puzzle == self.question.puzzle


@dataclass(slots=True)
class Questions:
    asks: bool
    """Whether there is anybody to answer."""
    _open: dict[GroupKey, tuple[int, Question]] = field(default_factory=dict)
    _answers: dict[GroupKey, Answer] = field(default_factory=dict)
    _in_a_row: dict[GroupKey, int] = field(default_factory=dict)
    _last: int = 0

    def ask(self, key: GroupKey, question: Question) -> Solve | None:
        """What to have solved; None if that is under way."""
        number, asked = self._open.get(key, (0, None))
        if asked is not None and asked.puzzle == question.puzzle:
            self._open[key] = number, question
            return None
        self._last += 1
        self._in_a_row[key] = self._in_a_row.get(key, 0) + 1
        self._open[key] = self._last, question
        return Solve(key, self._last, question.puzzle)

    def may_ask(self, key: GroupKey) -> bool:
        return self.asks and self._in_a_row.get(key, 0) < _MOST_IN_A_ROW

    def answered(self, event: Solved) -> bool:
        """Whether that was still to be known."""
        number, question = self._open.get(event.group, (0, None))
        if question is None or number != event.number:
            return False
        del self._open[event.group]
        self._answers[event.group] = Answer(question, event.solution)
        return True

    def take_answer(self, key: GroupKey) -> Answer | None:
        return self._answers.pop(key, None)

    def forget(self, key: GroupKey) -> None:
        """The group was decided upon, or is gone."""
        self._open.pop(key, None)
        self._answers.pop(key, None)
        self._in_a_row.pop(key, None)


def question_of(state: ClusterState, group: GroupRecord) -> Question | None:
    """Whether any placement exists; None where rules matter that a puzzle does not know, or there is too much to look at."""
    classes = classes_of(state, group.unattached())
    views = [state.view(subject) for subject, _ in classes]
    if not all(view.counts_by_resources for view in views):
        return None
    room = np.array([view.capacity() for view in views])
    rows = np.flatnonzero(room.any(axis=0))
    if room[:, rows].size > _MOST_CELLS:
        return None
    resources = _resources(classes)
    free = state.nodes.allocatable[resources][:, rows] - state.nodes.requested[resources][:, rows]
    sorts = tuple(
        Sort(_wanted(one, resources), tuple(line.tolist()))
        for one, line in zip(classes, room[:, rows], strict=True)
    )
    pods = tuple((sort, len(records)) for sort, (_, records) in enumerate(classes))
    keys = _keys(group)
    domains = tuple(tuple(state.nodes.labels.column(key).ids[rows].tolist()) for key in keys)
    key, domain = (0, _pinned_domain(state, group)) if keys else (None, None)
    team = Team(missing(group), pods, key=key, domain=domain)
    return Question(
        Puzzle(tuple(tuple(line.tolist()) for line in free), sorts, team, domains),
        tuple(state.nodes.names[row] for row in rows),
        (tuple(tuple(record.ref.uid for record in records) for _, records in classes),),
    )


def _pinned_domain(state: ClusterState, group: GroupRecord) -> int | None:
    pin = pin_of(state, group)
    return None if pin.value is None else state.nodes.labels.column(group.topology_key).id_of(pin.value)


def shapes_of(state: ClusterState, group: GroupRecord) -> tuple[NodeShape, ...]:
    """The sorts of nodes there are, as a question about the group sees them.

    Where the group must be in one domain, those of the domain with most room for it come first; else the most frequent.
    """
    classes = classes_of(state, group.unattached())
    rows = np.flatnonzero(state.nodes.alive & ~state.nodes.unschedulable)
    if not rows.size:
        return ()
    offered = state.nodes.allocatable[_resources(classes)][:, rows]
    room = np.array([_room_when_empty(state, one)[rows] for one in classes])
    domains = np.array([state.nodes.labels.column(key).ids[rows] for key in _keys(group)], dtype=np.int64)
    domains = domains.reshape(-1, rows.size)
    features = np.vstack((offered, room, domains))
    _, first, counts = np.unique(features, axis=1, return_index=True, return_counts=True)
    fitting = np.sum([state.view(subject).capacity()[rows] for subject, _ in classes], axis=0)
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


def _keys(group: GroupRecord) -> tuple[str, ...]:
    return (group.topology_key,) if group.topology_key else ()


def _room_when_empty(state: ClusterState, one: MemberClass) -> IntArray:
    subject, records = one
    room = np.where(state.view(subject).open_when_empty(), len(records), 0)
    for index, wanted in subject.pod_class.limited:
        np.minimum(room, state.nodes.allocatable[index] // wanted, out=room)
    return room


def _resources(classes: Sequence[MemberClass]) -> list[int]:
    return sorted(dict.fromkeys(index for subject, _ in classes for index, _ in subject.pod_class.limited))


def _wanted(one: MemberClass, resources: Sequence[int]) -> tuple[int, ...]:
    amounts = dict(one[0].pod_class.limited)
    return tuple(amounts.get(resource, 0) for resource in resources)
