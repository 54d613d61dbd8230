"""What refused groups are told beside the refusal: what would let them start. It is found out elsewhere, one group at a time.

A refusal is told at once, and the advice added when it is there. As long as the refusal reads the same the advice stays, and is
looked at again now and then, so that a status is not written anew at every attempt.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from posse.engine.decisions import Advise, Decision
from posse.engine.events import Advised
from posse.engine.explain.explanation import remedy_problem
from posse.engine.groups.forms import form_of
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import (
    ADVICE_OPENING,
    UNKNOWN_OPENING,
    USELESS_OPENING,
    RemedyProblem,
    Unadvised,
)
from posse.engine.reporting.groups import remarked
from posse.engine.reporting.roots import last_told, tell_advice
from posse.engine.trials.group_trial import GroupTrials
from posse.engine.verdict import Verdict

_REST_SECONDS = 1.0
"""Between two groups: to describe an impasse takes a look at every pod of the cluster."""
_FRESH_SECONDS = 60.0
_OPENINGS = ADVICE_OPENING, USELESS_OPENING, UNKNOWN_OPENING


@dataclass(frozen=True, slots=True)
class _Advice:
    refusal: str
    """To which it belongs."""
    text: str
    remedy_problem: int
    """Two that are equal have the same number."""
    since: float


@dataclass(frozen=True, slots=True)
class _Open:
    key: GroupKey
    number: int
    refusal: str
    remedy_problem: int
    since: float


@dataclass(slots=True)
class Advising:
    asks: bool
    """Whether there is anybody to answer."""
    _known: dict[GroupKey, _Advice] = field(default_factory=dict)
    _wanted: dict[GroupKey, str] = field(default_factory=dict)
    """Refusals for which advice is sought, in the order of the groups' turn."""
    _open: _Open | None = None
    _fresh: list[GroupKey] = field(default_factory=list)
    _last: int = 0
    _may_ask_at: float = 0.0

    def refused(self, key: GroupKey, refusal: str, told: str, now: float) -> str:
        """What to add to the refusal; `told` is what the group was told last, by us or by whoever was here before."""
        if not self.asks or not form_of(key).has_message:
            return ""
        known = self._known.get(key)
        is_known = known is not None and known.refusal == refusal
        if known is None or not is_known or now - known.since > _FRESH_SECONDS:
            self._wanted[key] = refusal
        if known is not None and is_known:
            return known.text
        advice = told.removeprefix(f"{refusal} ") if told.startswith(refusal) else ""
        return advice if advice.startswith(_OPENINGS) else ""

    def next_group(self, now: float) -> GroupKey | None:
        """Whose turn it is to be advised."""
        if self._open is not None or now < self._may_ask_at:
            return None
        return next(iter(self._wanted), None)

    def ask(
        self, key: GroupKey, remedy_problem: RemedyProblem | Unadvised | None, now: float
    ) -> Advise | None:
        """What to find out; None if nothing can be, or it is known."""
        refusal, known = self._wanted.pop(key), self._known.get(key)
        self._may_ask_at = now + _REST_SECONDS
        number = hash(remedy_problem)
        if not isinstance(remedy_problem, RemedyProblem):
            text = remedy_problem.sentence if remedy_problem is not None else ""
            self._learn(key, _Advice(refusal, text, number, now))
            return None
        if known is not None and known.remedy_problem == number:
            self._learn(key, _Advice(refusal, known.text, number, now))
            return None
        self._last += 1
        self._open = _Open(key, self._last, refusal, number, now)
        return Advise(key, self._last, remedy_problem)

    def answered(self, event: Advised) -> None:
        asked = self._open
        if asked is not None and asked.number == event.number:
            self._open = None
            self._learn(asked.key, _Advice(asked.refusal, event.text, asked.remedy_problem, asked.since))

    def _learn(self, key: GroupKey, advice: _Advice) -> None:
        self._known[key] = advice
        self._fresh.append(key)

    def take_fresh(self) -> list[tuple[GroupKey, str, str]]:
        """Groups of which something new is known: the refusal, and the advice to go with it."""
        taken, self._fresh = self._fresh, []
        known = [(key, self._known.get(key)) for key in taken]
        return [(key, one.refusal, one.text) for key, one in known if one is not None]

    def forget(self, key: GroupKey) -> None:
        """The group has started, or is gone."""
        self._known.pop(key, None)
        self._wanted.pop(key, None)

    def next_wakeup(self) -> float | None:
        if self._fresh:
            return 0.0
        return self._may_ask_at if self._wanted and self._open is None else None


@dataclass(frozen=True, slots=True)
class Advisory:
    knowledge: Knowledge
    trials: GroupTrials
    book: Advising

    def advice(self, group: Root, verdict: Verdict, remark: str, now: float) -> str:
        """What to tell a group beside its refusal, as far as that is known yet."""
        record = last_told(group)
        if verdict.proof is None or record is None or record.scheduled or _has_room(group):
            self.forget(group.key)
            return ""
        return self.book.refused(group.key, remarked(verdict, remark), record.reported[1], now)

    def tell(self) -> Iterator[Decision]:
        """What has been found out; before groups are tried, so that what comes of that is told last."""
        for advised, refusal, text in self.book.take_fresh():
            root = root_of(self.knowledge.groups, advised)
            if root is not None:
                yield from tell_advice(root, refusal, text)

    def ask(self, now: float) -> Iterator[Decision]:
        """Ask about the next group."""
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

    def answered(self, event: Advised) -> None:
        self.book.answered(event)

    def forget(self, key: GroupKey) -> None:
        """The group has started, or is gone."""
        self.book.forget(key)

    def next_wakeup(self) -> float | None:
        return self.book.next_wakeup()


def _has_room(group: Root) -> bool:
    """Whether room is being made for it."""
    return any(member.nominated for member in group.members.values())
