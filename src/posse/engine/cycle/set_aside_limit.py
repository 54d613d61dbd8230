"""What is set aside for pods of started groups ends after a time.

Otherwise a group whose pods never come would keep others waiting for ever.
"""

from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey

SET_ASIDE_SECONDS = 900.0
"""How long capacity is set aside for pods of a started group that do not exist yet."""


class SetAsideLimit:
    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self.until: dict[GroupKey, float] = {}
        """Groups that capacity is set aside for, and until when."""

    def review(self, now: float) -> None:
        holders = self._knowledge.state.minimum_reservations.holders()
        if not holders and not self.until:
            return
        self.until = {key: self.until.get(key, now + SET_ASIDE_SECONDS) for key in holders}
        over = [key for key, until in self.until.items() if until <= now]
        for key in over:
            del self.until[key]
            self._end(key)
        if over:
            self._wake_needing()

    def next_wakeup(self) -> float | None:
        return min(self.until.values(), default=None)

    def _end(self, key: GroupKey) -> None:
        group = self._knowledge.groups.get(key)
        if group is not None:
            group.is_set_aside_over = True
            self._knowledge.state.minimum_reservations.note(key)

    def _wake_needing(self) -> None:
        """Only groups that state minResources were held back."""
        for group in self._knowledge.groups:
            if group.minimum_resources and not group.started_count:
                self._knowledge.backlog.wake(self._knowledge.entry_of(group.key))
