"""One call of `decide`: its time and its results."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from posse.engine.decisions import Decision
from posse.engine.intake.knowledge import Knowledge
from posse.engine.reporting.pods import mark_nomination_lost
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.attempt_record import AttemptRecord

MAX_PODS = 1000
"""Pods that are tried in one call of `decide`, give or take a group."""


@dataclass(slots=True, eq=False)
class Cycle:
    now: float
    decisions: list[Decision] = field(default_factory=list)
    attempts: list[AttemptRecord] = field(default_factory=list)

    def requeue_crowded_out(self, knowledge: Knowledge, arrived: Iterable[PodRecord], priority: int) -> None:
        """Withdraw nominations for capacity that these pods have or will have, and try their pods again."""
        nominations = knowledge.nominations
        nodes = (
            dict.fromkeys(record.node or record.nominated for record in arrived) if len(nominations) else {}
        )
        for record in nominations.crowded_out(nodes, priority) if nodes else ():
            nominations.drop(record)
            self.decisions.extend(mark_nomination_lost(record))
            knowledge.backlog.wake(knowledge.queue_key(record))
