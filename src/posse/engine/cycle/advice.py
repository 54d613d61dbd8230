"""Advice for refused groups: what would let them start. Another process finds it, for one group at a time.

A refusal is reported at once, and advice is added when it arrives. It stays while the refusal is the same,
and is renewed now and then, so that the status is not written at every attempt.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from posse.engine.decisions import Advise, Decision
from posse.engine.events import Advised
from posse.engine.explain.explanation import remedy_problem
from posse.engine.explain.group_status import is_held_back_alone
from posse.engine.groups.forms import form_of
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey, PodRef
from posse.engine.placement_problem import Advice, RemedyProblem, Unadvised
from posse.engine.pods.pod_class import PodClass
from posse.engine.queue.backlog import Backlog, Key, Waiting
from posse.engine.reporting.waiting_parts import mark_advised, record_of
from posse.engine.statement import AdvicePending, Statement
from posse.engine.trials.group_trial import GroupTrials

_REST_SECONDS = 1.0
"""Pause between two groups: describing a problem reads every pod of the cluster."""
_FRESH_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class MissingPods:
    """Waiting pods of a group that every rule treats alike, and how many of them must start."""

    pods: tuple[PodRef, ...]
    count: int


@dataclass(frozen=True, slots=True)
class MissingNodes:
    """All of these nodes together would let the group start, and no fewer of them."""

    group: GroupKey
    nodes: tuple[tuple[str, int], ...]
    """How many more nodes like this one."""
    pods: tuple[MissingPods, ...] = field(default=(), compare=False)
    """The pods for which these nodes are, beside those that would fit now."""
    topology_key: str = field(default="", compare=False)
    """The label of nodes that all its pods must share, if any."""


@dataclass(frozen=True, slots=True)
class _Known:
    refusal: Statement
    """The refusal that the advice belongs to."""
    advice: Advice | Unadvised | None
    problem: int
    """Equal problems have the same number."""
    since: float


@dataclass(frozen=True, slots=True)
class _Open:
    key: GroupKey
    number: int
    refusal: Statement
    problem: RemedyProblem
    since: float


@dataclass(slots=True)
class Advising:
    """Advice that is known, wanted, or requested."""

    asks: bool
    """Whether a solver is available."""
    _known: dict[GroupKey, _Known] = field(default_factory=dict)
    _wanted: dict[GroupKey, Statement] = field(default_factory=dict)
    """Refusals for which advice is wanted, in the order of their groups' turn."""
    _open: _Open | None = None
    _fresh: list[GroupKey] = field(default_factory=list)
    _last: int = 0
    _may_ask_at: float = 0.0
    _first: Key | None = None
    """The first of the refused entries of the queue, as far as it was looked at."""
    _refusals: int = 0

    def want(
        self, key: GroupKey, refusal: Statement, now: float
    ) -> Advice | Unadvised | AdvicePending | None:
        """Ask for advice; returns the known advice on the refusal."""
        if not self.asks or not form_of(key).has_message:
            return None
        known = self._known.get(key)
        is_known = known is not None and known.refusal == refusal
        is_old = known is None or not is_known or now - known.since > _FRESH_SECONDS
        if is_old or self._awaits_other(key, refusal):
            self._wanted[key] = refusal
        return known.advice if known is not None and is_known else AdvicePending()

    def _awaits_other(self, key: GroupKey, refusal: Statement) -> bool:
        """Whether advice on another refusal is wanted or requested, and would replace this one."""
        asked = self._open
        is_asked = asked is not None and asked.key == key and asked.refusal != refusal
        return is_asked or self._wanted.get(key, refusal) != refusal

    def renew(self, key: GroupKey) -> None:
        """The cluster has changed, the refusal has not: other advice may be right now."""
        known = self._known.get(key)
        if known is not None:
            self._wanted.setdefault(key, known.refusal)

    def next_group(self, now: float) -> GroupKey | None:
        """The next group to be advised."""
        if self._open is not None or now < self._may_ask_at:
            return None
        return next(iter(self._wanted), None)

    def note_queue(self, backlog: Backlog, now: float) -> None:
        """Renew the advice of the group that is first of the refused entries now, or was so far."""
        if not self._is_overtaken(backlog) or now < self._may_ask_at:
            return
        first = min(backlog.refused(), key=Waiting.order, default=None)
        self._refusals, before = backlog.refusals, self._first
        self._first = first.key if first is not None else None
        for key in (before, self._first) if before != self._first else ():
            if isinstance(key, GroupKey):
                self.renew(key)

    def _is_overtaken(self, backlog: Backlog) -> bool:
        """Whether the queue has changed since it was last looked at."""
        return bool(self._known or self._wanted) and self._refusals != backlog.refusals

    def ask(self, key: GroupKey, problem: RemedyProblem | Unadvised | None, now: float) -> Advise | None:
        """The question for the solver; None if there is none, or the answer is known."""
        refusal, known = self._wanted.pop(key), self._known.get(key)
        self._may_ask_at = now + _REST_SECONDS
        number = hash(problem)
        if not isinstance(problem, RemedyProblem):
            self._learn(key, _Known(refusal, problem, number, now))
            return None
        if known is not None and known.problem == number:
            advice = known.advice
            if isinstance(advice, Advice):
                advice = replace(advice, is_behind=key != self._first)
            self._learn(key, _Known(refusal, advice, number, now))
            return None
        self._last += 1
        self._open = _Open(key, self._last, refusal, problem, now)
        return Advise(key, self._last, problem)

    def answered(self, event: Advised) -> None:
        asked = self._open
        if asked is not None and asked.number == event.number:
            self._open = None
            advice = None
            if event.remedies is not None:
                has_topology = bool(asked.problem.problem.domains)
                has_devices = bool(asked.problem.problem.mix_of)
                is_behind = asked.key != self._first
                advice = Advice(event.remedies, asked.problem.demands, has_topology, has_devices, is_behind)
            self._learn(asked.key, _Known(asked.refusal, advice, hash(asked.problem), asked.since))

    def _learn(self, key: GroupKey, known: _Known) -> None:
        self._known[key] = known
        self._fresh.append(key)

    def take_fresh(self) -> list[tuple[GroupKey, Statement, Advice | Unadvised | None]]:
        """Groups with new advice, and the refusals to which it belongs."""
        taken, self._fresh = self._fresh, []
        known = [(key, self._known.get(key)) for key in taken]
        return [(key, one.refusal, one.advice) for key, one in known if one is not None]

    def missing_nodes(self) -> list[MissingNodes]:
        """Nodes that would let a waiting group start, for each group where more nodes help."""
        found = []
        for key, known in self._known.items():
            if isinstance(known.advice, Advice) and known.advice.remedies.more_nodes:
                nodes = known.advice.remedies.more_nodes[0].nodes
                found.append(MissingNodes(key, tuple((shape.like, count) for shape, count in nodes)))
        return found

    def forget(self, key: GroupKey) -> None:
        """The group has started, or is gone."""
        self._known.pop(key, None)
        self._wanted.pop(key, None)

    def next_wakeup(self, backlog: Backlog) -> float | None:
        if self._fresh:
            return 0.0
        may_ask = bool(self._wanted) and self._open is None
        return self._may_ask_at if may_ask or self._is_overtaken(backlog) else None


@dataclass(frozen=True, slots=True)
class Advisory:
    knowledge: Knowledge
    trials: GroupTrials
    book: Advising

    def advice(
        self, group: Root, refusal: Statement, now: float
    ) -> Advice | Unadvised | AdvicePending | None:
        """The advice to report with a group's refusal."""
        record = record_of(group)
        is_waiting = record is not None and not record.scheduled
        if refusal.verdict.proof is None or not is_waiting or _is_nominated(group):
            self.forget(group.key)
            return None
        if self.book.asks and is_held_back_alone(self.knowledge, group, refusal.reservation):
            self.forget(group.key)
            return None
        return self.book.want(group.key, refusal, now)

    def mark_fresh(self) -> list[Decision]:
        """Report new advice. It precedes the attempts, so that their outcomes are reported last."""
        fresh = [
            (root_of(self.knowledge.groups, key), refusal, advice)
            for key, refusal, advice in self.book.take_fresh()
        ]
        return [
            report
            for root, refusal, advice in fresh
            if root is not None
            for report in mark_advised(root, refusal, advice)
        ]

    def ask(self, now: float) -> Iterator[Decision]:
        """Ask about the next group."""
        self.book.note_queue(self.knowledge.backlog, now)
        key = self.book.next_group(now)
        if key is None:
            return
        group = root_of(self.knowledge.groups, key)
        if group is None or key not in self.knowledge.backlog:
            self.forget(key)
            return
        asked = self.book.ask(key, remedy_problem(self.knowledge, self.trials, group, key), now)
        if asked is not None:
            yield asked

    def missing_nodes(self) -> list[MissingNodes]:
        """Nodes that would let waiting groups start, with the pods that they are for."""
        found = []
        for missing in self.book.missing_nodes():
            root = root_of(self.knowledge.groups, missing.group)
            if root is not None:
                pods = tuple(one for leaf in root.leaves for one in _missing_pods(leaf))
                topology_key = root.top.topology_key if root.top is not None else ""
                found.append(replace(missing, pods=pods, topology_key=topology_key))
        return found

    def answered(self, event: Advised) -> None:
        self.book.answered(event)

    def forget(self, key: GroupKey) -> None:
        """The group has started, or is gone."""
        self.book.forget(key)

    def renew(self, key: GroupKey) -> None:
        self.book.renew(key)

    def next_wakeup(self) -> float | None:
        return self.book.next_wakeup(self.knowledge.backlog)


def _missing_pods(leaf: GroupRecord) -> Iterator[MissingPods]:
    """As many as its minimum asks for; all that wait where they differ."""
    classes: dict[PodClass, list[PodRef]] = {}
    for member in leaf.unattached():
        classes.setdefault(member.pod_class, []).append(member.ref)
    needed = max(0, leaf.minimum - leaf.started_count)
    for refs in classes.values():
        count = min(len(refs), needed) if len(classes) == 1 else len(refs)
        if count:
            yield MissingPods(tuple(refs), count)


def _is_nominated(group: Root) -> bool:
    return any(member.nominated for member in group.members.values())
