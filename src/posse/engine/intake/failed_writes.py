"""What came of decisions that could not be carried out, or may not have been: it is taken back, tried again, or told again."""

from posse.engine.decisions import MarkDisrupted
from posse.engine.events import (
    BindRefused,
    EvictionFailed,
    GroupReportFailed,
    ReportFailed,
    ReportWithheld,
    Setback,
)
from posse.engine.intake.cluster_events import Intake
from posse.engine.keys import GroupKey
from posse.engine.queue.backlog import Key


class FailedWrites:
    def __init__(self, known: Intake) -> None:
        self._known = known
        self._refused: dict[Key, None] = {}
        """Pods and groups for which something was refused since the last decision."""
        self._lost_marks: dict[GroupKey, MarkDisrupted] = {}
        """What groups were to be told of their eviction since the last decision, and may not know."""

    def absorb(self, event: Setback) -> None:
        if isinstance(event, BindRefused):
            self._bind_refused(event)
        elif isinstance(event, EvictionFailed):
            self._eviction_failed(event)
        elif isinstance(event, ReportWithheld):
            # With its minimum on nodes all the same, it is reported when it is looked at.
            self._known.groups.not_yet_scheduled(event.group)
            self._known.look_at(event.group)
        elif isinstance(event, GroupReportFailed):
            self._known.groups.say_again(event.report)
            self._known.look_at(event.report.group)
        elif isinstance(event, ReportFailed):
            self._report_failed(event.pod_uid)
        else:
            self._lost_marks[event.mark.group] = event.mark
            self._known.look_at(event.mark.group)

    def take_refused(self) -> list[Key]:
        """Who has to come back behind a backoff: what was refused once is likely to be refused again."""
        taken, self._refused = list(self._refused), {}
        return taken

    def take_lost_marks(self) -> list[MarkDisrupted]:
        taken, self._lost_marks = list(self._lost_marks.values()), {}
        return taken

    def _bind_refused(self, event: BindRefused) -> None:
        known, record = self._known, self._known.pods.get(event.pod_uid)
        if record is not None and record.node == event.node and not record.pod.spec.node_name:
            known.state.release(record)
            known.victim_gone(record)
            self._refused[known.entry_of(record.group) if record.group is not None else event.pod_uid] = None
            known.requeue(record)

    def _eviction_failed(self, event: EvictionFailed) -> None:
        """The victim stays; those it was to make room for try anew."""
        victim = self._known.pods.get(event.pod_uid)
        if victim is not None:
            self._known.ledger.stays(victim)
            self._refused[victim.evicted_for] = None
            self._refused |= dict.fromkeys(self._known.nominees_beside(victim))
            victim.evicted_for = ""

    def _report_failed(self, uid: str) -> None:
        """It is told at the next attempt, even if nothing is new by then."""
        record = self._known.pods.get(uid)
        if record is not None:
            record.is_untold = True
