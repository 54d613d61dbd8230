"""The last report about a group or a composite group, beside the object that describes it."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar

from posse.engine.groups.annotations import AnnotationFault
from posse.engine.groups.forms import (
    DISRUPTION_TARGET,
    MINIMUM_RUNNING,
    PODS_NOT_MATCHING_PRIORITY,
    reported_outcome,
)
from posse.engine.invalid_groups import PriorityError
from posse.engine.keys import GroupKey
from posse.engine.statement import NEVER_REPORTED, Reported
from posse.model.meta import Condition
from posse.model.timestamps import TimestampError, parse_timestamp
from posse.model.workload import CompositePodGroup, PodGroup

POSSIBLY_LOST = "possibly lost"
"""In place of a note that may not have been written, so that the next one is."""


@dataclass(slots=True, eq=False)
class ReportedObject:
    key: GroupKey
    _: KW_ONLY
    scheduled: bool = False
    """The condition of its type is True, or was reported so. It never becomes False again."""
    is_start_uncertain: bool = False
    """It was reported scheduled beside bindings that are not confirmed; if one is refused, it is not."""
    report_may_be_lost: bool = False
    """The report that it is scheduled may be lost, and is repeated regardless of later events."""
    is_disrupted: bool = False
    """It is marked as evicted as a whole, and does not run again yet."""
    is_seen_disrupted: bool = False
    """The same, as the object said when it was last seen."""
    is_seen_short: bool = False
    """MinimumRunning stood on the object when it was last seen."""
    reported: Reported = NEVER_REPORTED
    """The last report while it waits: of its type's condition, or once that is True, of MinimumRunning."""
    left: int | None = None
    """For a group that has started and waits again: its pods on nodes, or its groups that still run."""
    priority_error: PriorityError | None = None
    """What is wrong with the priority that it states."""
    told_priority_error: PriorityError | None = None
    """The same, as it was last reported."""
    told_annotation_faults: tuple[AnnotationFault, ...] = ()
    """What is wrong with its annotations, as it was last reported."""
    priority_note: str = ""
    """What was last written about members of another priority; empty if nothing."""
    outcome: str = ""
    """Outcome of the search for a placement, as last written."""

    condition_type: ClassVar[str]

    if TYPE_CHECKING:

        @property
        def obj(self) -> PodGroup | CompositePodGroup | None:
            """The object that describes it, a field of each subclass; None until that is seen."""

        @property
        def annotation_faults(self) -> tuple[AnnotationFault, ...]:
            """What is wrong with its annotations of Posse, which then are not used."""

    @property
    def uid(self) -> str:
        """Uid of the object; empty without one."""
        obj = self.obj
        return obj.metadata.uid if obj is not None else ""

    def note_outcome(self, outcome: str) -> bool:
        """Note the outcome of a search that is written now; returns whether it is another than before."""
        was, self.outcome = self.outcome, outcome
        return was != outcome

    @property
    def topology_key(self) -> str:
        """Node label whose value all members must share; empty if they may go anywhere."""
        obj = self.obj
        constraints = obj.spec.scheduling_constraints if obj is not None else None
        return constraints.topology[0].key if constraints is not None and constraints.topology else ""

    @property
    def preemption_policy(self) -> str | None:
        obj = self.obj
        return obj.spec.preemption_policy if obj is not None else None

    @property
    def workload_name(self) -> str:
        """The Workload it comes from; empty if it names none."""
        obj = self.obj
        reference = obj.spec.workload_ref if obj is not None else None
        return reference.workload_name if reference is not None else ""

    @property
    def parent_name(self) -> str:
        """The composite group it names as its parent; empty at the top."""
        obj = self.obj
        return (obj.spec.parent_composite_pod_group_name or "") if obj is not None else ""

    @property
    def is_gang(self) -> bool:
        obj = self.obj
        return obj is not None and obj.spec.scheduling_policy.gang is not None

    @property
    def is_being_deleted(self) -> bool:
        obj = self.obj
        return obj is not None and bool(obj.metadata.deletion_timestamp)

    @property
    def age(self) -> tuple[str, str]:
        """Sort key that puts the oldest first."""
        obj = self.obj
        return obj.metadata.creation_timestamp if obj is not None else "", self.key.name

    @property
    def disruption(self) -> Condition | None:
        """The condition that says by what it was evicted as a whole, and when, unless it runs again."""
        return self._condition(DISRUPTION_TARGET) if self.is_disrupted else None

    @property
    def refused_since(self) -> float:
        """Since when its condition says that it does not fit, as an earlier scheduler wrote; or infinite.

        Never before the object was created, so a forged condition gains no more than that.
        """
        condition, obj = self._condition(), self.obj
        if obj is None or condition is None or condition.status != "False":
            return math.inf
        try:
            written = parse_timestamp(condition.last_transition_time)
            return max(written, parse_timestamp(obj.metadata.creation_timestamp))
        except TimestampError:
            return math.inf

    def is_replaced_by(self, obj: PodGroup | CompositePodGroup | None) -> bool:
        """Whether the object belongs to another group, for which earlier reports do not hold."""
        before = self.obj
        return obj is None or (before is not None and before.metadata.uid != obj.metadata.uid)

    def forget_reports(self) -> None:
        self.scheduled = self.is_start_uncertain = self.report_may_be_lost = False
        self.is_disrupted = self.is_seen_disrupted = self.is_seen_short = False
        self.reported, self.outcome, self.priority_note = NEVER_REPORTED, "", ""
        self.told_annotation_faults = ()

    def forget_losses(self) -> None:
        """It has not started, so it has lost nothing."""
        self.left = None

    def forget_told(self) -> None:
        """The report that it waits again, or does no longer, may be lost: what holds by now is reported."""
        self.reported = Reported(POSSIBLY_LOST)

    def read_conditions(self) -> bool:
        """Read earlier reports from the object's conditions; returns whether its own was ever written."""
        conditions = self._conditions
        if not conditions:
            return False
        is_marked = any(one.type == DISRUPTION_TARGET and one.status == "True" for one in conditions)
        if is_marked != self.is_seen_disrupted:
            # Otherwise the object may be older than the last mark.
            self.is_disrupted = self.is_seen_disrupted = is_marked
        self.outcome = reported_outcome(conditions) or self.outcome
        self.priority_note = self.priority_note or next(
            (one.message for one in conditions if one.type == PODS_NOT_MATCHING_PRIORITY), ""
        )
        condition = self._condition()
        if condition is not None:
            is_true = condition.status == "True"
            self.scheduled = self.scheduled or is_true
            self.is_start_uncertain = self.is_start_uncertain and not is_true
            short = self._condition(MINIMUM_RUNNING)
            told = short if self.scheduled else condition
            if told is not None:
                self.reported = self.reported.seen(told.reason, told.message)
            elif self.is_seen_short:
                # It was removed since: what was seen of it says nothing about the next report.
                self.reported = NEVER_REPORTED
            self.is_seen_short = short is not None
        return condition is not None

    def not_yet_scheduled(self) -> None:
        """The last report does not hold, or was not written: return to the object's conditions."""
        condition = self._condition()
        self.scheduled = condition is not None and condition.status == "True"
        self.is_start_uncertain = self.report_may_be_lost = False
        told = self._condition(MINIMUM_RUNNING) if self.scheduled else condition
        seen = (told.reason, told.message) if told is not None else ("", "")
        self.reported = Reported(*seen)
        self.outcome = reported_outcome(self._conditions)

    @property
    def _conditions(self) -> Sequence[Condition]:
        obj = self.obj
        return obj.status.conditions if obj is not None else ()

    def _condition(self, name: str = "") -> Condition | None:
        """The condition of this type, or of its own."""
        return next((one for one in self._conditions if one.type == (name or self.condition_type)), None)
