"""Writes that failed, or may have failed: their decisions are taken back, tried again or reported again."""

from posse.engine.decisions import MarkDisrupted, NotePriorities
from posse.engine.events import (
    BindRefused,
    EvictionFailed,
    GroupReportFailed,
    MarkFailed,
    ReleaseFailed,
    ReportFailed,
    ReportWithheld,
    Setback,
)
from posse.engine.groups.reported_object import POSSIBLY_LOST
from posse.engine.intake.knowledge import Knowledge
from posse.engine.intake.pod_events import nominees_beside, reclassify, requeue, victim_gone
from posse.engine.keys import ClaimKey, GroupKey
from posse.engine.queue.backlog import Key


class FailedWrites:
    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self.refused: dict[Key, None] = {}
        """Queue keys of pods and groups with a refused write since the last cycle."""
        self.lost_marks: dict[GroupKey, MarkDisrupted] = {}
        """Marks of evicted groups that may not have been written since the last cycle."""

    def absorb(self, event: Setback) -> None:
        if isinstance(event, BindRefused):
            self._bind_refused(event)
        elif isinstance(event, EvictionFailed):
            self._eviction_failed(event)
        elif isinstance(event, ReportWithheld):
            # If its minimum is on nodes all the same, settling it reports so.
            self._knowledge.groups.not_yet_scheduled(event.group)
            self._knowledge.unsettle(event.group)
        elif isinstance(event, GroupReportFailed):
            self._knowledge.groups.repeat_report(event.report)
            self._knowledge.unsettle(event.report.group)
        elif isinstance(event, ReportFailed):
            self._report_failed(event.pod_uid)
        elif isinstance(event, MarkFailed):
            self._mark_failed(event.mark)
        elif isinstance(event, ReleaseFailed):
            self._release_failed(event.claim)
        else:
            self._knowledge.published.failed(event.publication)

    def take_refused(self) -> list[Key]:
        """Return the queue keys that back off: a refused write is likely to be refused again."""
        taken, self.refused = list(self.refused), {}
        return taken

    def take_lost_marks(self) -> list[MarkDisrupted]:
        taken, self.lost_marks = list(self.lost_marks.values()), {}
        return taken

    def _bind_refused(self, event: BindRefused) -> None:
        knowledge, record = self._knowledge, self._knowledge.pods.get(event.pod_uid)
        if record is not None and record.node == event.node and not record.pod.spec.node_name:
            knowledge.state.release(record)
            victim_gone(knowledge, record)
            self.refused[knowledge.queue_key(record)] = None
            if record.pod_class.devices is not None:
                # Some of its claims may have been allocated before.
                reclassify(knowledge, record)
            requeue(knowledge, record)

    def _eviction_failed(self, event: EvictionFailed) -> None:
        """The victim stays, and its preemptors are tried again."""
        victim = self._knowledge.pods.get(event.pod_uid)
        if victim is not None:
            self._knowledge.ledger.stays(victim)
            self.refused[victim.evicted_for] = None
            self.refused |= dict.fromkeys(nominees_beside(self._knowledge, victim))
            victim.evicted_for = ""
            if victim.group is not None:
                # It counts as a member again.
                self._knowledge.unsettle(victim.group)

    def _release_failed(self, claim: ClaimKey) -> None:
        """The pods that use the claim are tried again, and release it if they still find no node."""
        book = self._knowledge.state.devices.book
        book.forget_release(claim)
        for record in map(self._knowledge.pods.get, book.users(claim)):
            if record is not None and not record.node:
                self.refused[self._knowledge.queue_key(record)] = None

    def _mark_failed(self, mark: MarkDisrupted | NotePriorities) -> None:
        record = self._knowledge.groups.reported(mark.group)
        if isinstance(mark, MarkDisrupted):
            self.lost_marks[mark.group] = mark
        elif record is not None:
            record.priority_note = POSSIBLY_LOST
        self._knowledge.unsettle(mark.group)

    def _report_failed(self, uid: str) -> None:
        """Repeat the report, even if it has not changed."""
        record = self._knowledge.pods.get(uid)
        if record is not None:
            record.report_may_be_lost = True
            # Renewal finds what is tried; what is not tried has to be settled again.
            self._knowledge.state.changes += 1
            if record.group is not None:
                self._knowledge.unsettle(record.group)
