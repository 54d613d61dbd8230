"""Which faults a run suffers, drawn from its seed: how often answers fail, watches lag or break, and processes crash.

Every run draws its own mixture, with many faults absent from most runs, so that some runs get far and others suffer much.
"""

from dataclasses import dataclass
from enum import Enum


class Answer(Enum):
    """What becomes of a write."""

    FINE = "carried out"
    LOST_REQUEST = "failed without effect"
    LOST_ANSWER = "carried out, but the answer was lost"


@dataclass(frozen=True, slots=True)
class Faults:
    """Shares of writes that fail, and weights of the steps in which something goes wrong."""

    lost_requests: float = 0.0
    lost_answers: float = 0.0
    crashes: float = 0.0
    breaks: float = 0.0
    repeats: float = 0.0
    deliveries: float = 12.0
    """How readily watches advance; few deliveries mean that everything is decided on old news."""
    carrying: float = 12.0
    """How readily writes are made; few mean that many decisions are on their way at once."""

    def answer(self, random):
        drawn = random.random()
        if drawn < self.lost_requests:
            return Answer.LOST_REQUEST
        return Answer.LOST_ANSWER if drawn < self.lost_requests + self.lost_answers else Answer.FINE


NO_FAULTS = Faults()


def draw_faults(random, *, binds_whole):
    """Answers get lost only on the way from a server elsewhere, never within one process."""
    return Faults(
        lost_requests=random.choice((0.0, 0.0, 0.1, 0.4)),
        lost_answers=0.0 if binds_whole else random.choice((0.0, 0.0, 0.1, 0.3)),
        crashes=random.choice((0.0, 0.0, 0.3, 2.0)),
        breaks=random.choice((0.0, 0.5, 2.0)),
        repeats=random.choice((0.0, 1.0, 3.0)),
        deliveries=random.choice((3.0, 12.0, 40.0)),
        carrying=random.choice((3.0, 12.0, 40.0)),
    )
