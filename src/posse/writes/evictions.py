"""An eviction: the victim is marked, then deleted. Without the mark it is not deleted."""

from collections.abc import Sequence
from dataclasses import dataclass

from posse.engine.decisions import Evict
from posse.engine.events import EvictionFailed
from posse.engine.groups.forms import DISRUPTION_TARGET
from posse.engine.preemption.marks import PREEMPTION, mark_for
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.kinds.registry import POD
from posse.transport.notes import Note
from posse.writes.object_writes import ObjectDelete, ObjectWrite, patch_status
from posse.writes.scheduling_events import preempted


@dataclass(frozen=True, slots=True)
class EvictionWrites:
    decision: Evict

    def writes(self, stamp: str) -> Sequence[ObjectWrite]:
        victim = self.decision.pod
        condition = {
            "type": DISRUPTION_TARGET,
            "status": "True",
            "reason": PREEMPTION,
            "message": mark_for(self.decision.preemptor),
            "lastTransitionTime": stamp,
        }
        mark = patch_status(
            POD,
            victim.namespace,
            victim.name,
            victim.uid,
            {"conditions": [condition]},
            reads_after_conflict=True,
        )
        return mark, ObjectDelete(POD, victim.namespace, victim.name, victim.uid, reads_after_conflict=True)

    def failed(self, error: ApiError) -> EvictionFailed | None:
        """A victim that is gone leaves its capacity free, even if another client deleted it."""
        return None if error.code == NOT_FOUND else EvictionFailed(self.decision.pod.uid, str(error))

    def note(self) -> Note:
        return preempted(self.decision)
