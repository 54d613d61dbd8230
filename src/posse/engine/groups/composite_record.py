"""What is remembered of a group of groups, beside its object: what it was told, and what its tree waits for."""

from dataclasses import dataclass

from posse.engine.groups.forms import DISRUPTION_TARGET, TREE_INITIALLY_SCHEDULED, outcome_told
from posse.engine.keys import GroupKey
from posse.model.meta import Condition
from posse.model.workload import CompositePodGroup


@dataclass(slots=True, eq=False)
class CompositeRecord:
    key: GroupKey
    composite: CompositePodGroup
    scheduled: bool = False
    """CompositePodGroupInitiallyScheduled is True, or was reported so. It never becomes False again."""
    is_untold: bool = False
    """That it is scheduled was reported, but may not have arrived: it is said again, whatever has happened since."""
    reported: tuple[str, str] = ("", "")
    """Reason and message last written for CompositePodGroupInitiallyScheduled=False."""
    outcome: str = ""
    """Of the search for a placement, as last written."""
    is_disrupted: bool = False
    """It is marked as evicted as a whole, and does not run again yet."""

    @property
    def uid(self) -> str:
        return self.composite.metadata.uid

    @property
    def minimum(self) -> int:
        """How many children must start before any does: with the basic policy, one."""
        gang = self.composite.spec.scheduling_policy.gang
        return gang.min_group_count if gang is not None else 1

    @property
    def topology_key(self) -> str:
        """The node label of which all pods below it must have one value; empty if they may go anywhere."""
        constraints = self.composite.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else ""

    @property
    def priority(self) -> int:
        return self.composite.spec.priority or 0

    @property
    def goes_as_one(self) -> bool:
        mode = self.composite.spec.disruption_mode
        return mode is not None and mode.all is not None

    def define(self, composite: CompositePodGroup) -> None:
        """Another object is another group: what was said of the old one does not hold for it."""
        if composite.metadata.uid != self.uid:
            self.scheduled, self.is_untold, self.is_disrupted = False, False, False
            self.reported, self.outcome = ("", ""), ""
        self.composite = composite
        self.is_disrupted = self.is_disrupted or _is_marked(composite)
        condition = self._condition()
        if condition is not None:
            self.scheduled = self.scheduled or condition.status == "True"
            self.reported = (condition.reason, condition.message)
        self.outcome = outcome_told(composite.status.conditions) or self.outcome

    def not_yet_scheduled(self) -> None:
        """What was about to be reported does not hold, or was not written."""
        condition = self._condition()
        self.scheduled = condition is not None and condition.status == "True"
        self.is_untold = False
        self.reported = (condition.reason, condition.message) if condition is not None else ("", "")
        self.outcome = outcome_told(self.composite.status.conditions)

    def _condition(self) -> Condition | None:
        conditions = self.composite.status.conditions
        return next((one for one in conditions if one.type == TREE_INITIALLY_SCHEDULED), None)


def _is_marked(composite: CompositePodGroup) -> bool:
    return any(c.type == DISRUPTION_TARGET and c.status == "True" for c in composite.status.conditions)
