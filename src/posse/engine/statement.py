"""Statements for waiting pods and groups, as data, and their last written form."""

from dataclasses import dataclass, replace

from posse.engine.keys import GroupKey
from posse.engine.placement_problem import Advice, Unadvised
from posse.engine.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Reservation:
    """Capacity that is reserved so that a large group does not starve."""

    nodes: int
    holder: GroupKey | None
    """None if it is reserved for the group in question."""
    is_dated: bool = False
    """It is for a time, and what ends before may use it."""


@dataclass(frozen=True, slots=True)
class AdvicePending:
    """Advice is requested. Until it arrives, advice that an earlier process wrote stays."""


@dataclass(frozen=True, slots=True)
class Statement:
    verdict: Verdict
    reservation: Reservation | None = None
    advice: Advice | Unadvised | AdvicePending | None = None

    @property
    def refusal(self) -> "Statement":
        """The same without advice."""
        return replace(self, advice=None) if self.advice is not None else self


@dataclass(frozen=True, slots=True)
class Reported:
    """Reason and message of the condition with status False, as the API server has or will have them."""

    reason: str = ""
    message: str = ""
    nominated_node: str = ""
    """For a pod, beside the condition."""
    statement: Statement | None = None
    """The last statement made here; None if there was none, as after a restart."""
    written: str = ""
    """The message made from it."""

    def says(self, reason: str, statement: Statement) -> bool:
        """Whether this was the last statement, and nothing has replaced its message since."""
        return (
            (self.reason, self.message) == (reason, self.written)
            and self.statement is not None
            and self.statement == statement
        )

    def seen(self, reason: str, message: str) -> "Reported":
        """Updated with the present condition on the API server."""
        return replace(self, reason=reason, message=message)


NEVER_REPORTED = Reported()
