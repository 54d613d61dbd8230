"""Has it found out what would let refused groups start, and tells them. When to ask whom is in advising.py."""

from collections.abc import Iterator
from dataclasses import dataclass

from posse.engine.advising import Advising
from posse.engine.decisions import Decision, GroupKey
from posse.engine.events import Advised
from posse.engine.explaining import impasse
from posse.engine.group_trial import GroupTrials
from posse.engine.intake import Intake
from posse.engine.reports import remarked
from posse.engine.telling import last_told, tell_advice
from posse.engine.trees.tree import Root, root_of
from posse.engine.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Advisory:
    known: Intake
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
            root = root_of(self.known.groups, advised)
            if root is not None:
                yield from tell_advice(root, refusal, text)

    def ask(self, now: float) -> Iterator[Decision]:
        """Ask about the next group."""
        key = self.book.next_group(now)
        if key is None:
            return
        group = root_of(self.known.groups, key)
        if group is None or key not in self.known.backlog:
            self.forget(key)
            return
        asked = self.book.ask(key, impasse(self.known, self.trials, group, key), now)
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
