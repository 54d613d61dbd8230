"""A composite group as the engine knows it: its object, and the last report about it."""

from dataclasses import dataclass
from typing import ClassVar

from posse.engine.groups.forms import TREE_INITIALLY_SCHEDULED
from posse.engine.groups.reported_object import ReportedObject
from posse.model.workload import CompositePodGroup


@dataclass(slots=True, eq=False)
class CompositeRecord(ReportedObject):
    obj: CompositePodGroup

    condition_type: ClassVar[str] = TREE_INITIALLY_SCHEDULED

    @property
    def minimum(self) -> int:
        """How many children must start before any does: with the basic policy, one."""
        gang = self.obj.spec.scheduling_policy.gang
        return gang.min_group_count if gang is not None else 1

    @property
    def priority(self) -> int | None:
        """The priority it states; without one that of its members counts."""
        return self.obj.spec.priority

    @property
    def goes_as_one(self) -> bool:
        mode = self.obj.spec.disruption_mode
        return mode is not None and mode.all is not None

    def define(self, composite: CompositePodGroup) -> None:
        if self.is_replaced_by(composite):
            self.forget_reports()
        self.obj = composite
        self.read_conditions()
