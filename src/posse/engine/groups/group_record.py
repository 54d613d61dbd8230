"""A pod group as the engine knows it: its members, its object, and what was reported about it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from posse.engine.groups.forms import INITIALLY_SCHEDULED, form_of
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.limits import Excess
from posse.model.meta import Quantity
from posse.model.workload import PodGroup

PREEMPTED = "Preempted"


@dataclass(slots=True, eq=False)
class GroupRecord(ReportedObject):
    """The leaf of a tree, or a root by itself: see `Part` and `Root` for the questions it answers as such."""

    obj: PodGroup | None = None
    """The object that describes it, in the hub's version; None until it is seen.

    Until then its members wait.
    """
    siblings: tuple[str, ...] | None = None
    """The groups of its Workload; None without a Workload, or where its form has none."""
    minimum_resources: Mapping[str, Quantity] = field(default_factory=dict)
    """Capacity that must be free in the whole cluster before it is tried; empty in most forms."""
    excess: Excess | None = None
    """The limit that its object exceeds; such a group is not tried."""
    started_resources: Mapping[str, Quantity] | None = None
    """What it stated of that when it started: no more is set aside for it. None until it is seen."""
    is_set_aside_over: bool = False
    """It has run so long without the pods it needs that nothing is set aside for them any more."""
    members: dict[str, PodRecord] = field(default_factory=dict)
    """Every pod that names the group and is neither finished nor deleted, by uid, in order of arrival."""
    ended: dict[str, str] = field(default_factory=dict)
    """Phases of members that finished and are not deleted yet, by uid; Preempted if they were evicted."""
    has_completed_members: bool = False
    """A member has succeeded: the group is about to finish, and fewer pods than its minimum are no loss."""
    is_known_to_be_short: bool = False
    """It was reported that the group fell below its minimum."""
    awaits_volumes: bool = False
    """Members have nodes, but none is bound before the claims of all of them are."""
    awaits_bindings: bool = False
    """It is not tried until its promised members are seen on their nodes, or refused."""
    gathered: bool = False
    """It was ready once, with or without all the pods it expects, and does not wait for them again."""

    condition_type: ClassVar[str] = INITIALLY_SCHEDULED

    def define(self, podgroup: PodGroup | None) -> None:
        if self.is_replaced_by(podgroup):
            self.forget_reports()
            self.has_completed_members = self.is_known_to_be_short = self.gathered = False
        self.obj = podgroup
        self.gathered = self.read_conditions() or self.gathered

    def note_start(self) -> None:
        """As long as none of its pods is on a node, it may state other resources."""
        if not (self.minimum_resources or self.started_resources):
            self.started_resources = {}
        elif self.started_resources is None or not any(record.node for record in self.members.values()):
            self.started_resources = self.minimum_resources
            self.is_set_aside_over = False

    @property
    def minimum(self) -> int:
        """How many must be placed before any is bound: a basic group starts with whatever fits."""
        policy = self.obj.spec.scheduling_policy if self.obj is not None else None
        return policy.gang.min_count if policy is not None and policy.gang is not None else 1

    @property
    def expected(self) -> int:
        """How many members a basic group says there will be; 0 if it does not say."""
        policy = self.obj.spec.scheduling_policy if self.obj is not None else None
        basic = policy.basic if policy is not None else None
        return (basic.desired_count or 0) if basic is not None else 0

    @property
    def states_priority(self) -> bool:
        """Whether the group has a priority of its own, which counts instead of its members'."""
        return self.obj is not None and self.obj.spec.priority is not None

    @property
    def priority(self) -> int:
        """Its own priority, else the lowest of its members."""
        if self.obj is None:
            return 0
        return self.obj.spec.priority if self.obj.spec.priority is not None else lowest_priority([self])

    @property
    def scheduler_name(self) -> str:
        return next((record.ref.scheduler_name for record in self.members.values()), "")

    @property
    def attached_count(self) -> int:
        """Members on nodes, promised ones included; victims still terminating there do not count."""
        return sum(1 for record in self.members.values() if record.node and not record.evicted_for)

    @property
    def seen_count(self) -> int:
        """Members that are seen on their nodes."""
        bound = (record for record in self.members.values() if record.pod.spec.node_name)
        return sum(1 for record in bound if not record.evicted_for)

    @property
    def has_fallen_short(self) -> bool:
        """It once had its minimum on nodes, and has lost members since."""
        was_running = self.scheduled and self.is_gang and not self.is_disrupted
        is_short = was_running and self.attached_count < self.minimum
        return is_short and not (self.is_being_deleted or self.has_completed_members)

    @property
    def is_over(self) -> bool:
        """It ran, members have succeeded, and too few are left for it to start again."""
        has_ended = self.scheduled and self.has_completed_members
        return has_ended and self.attached_count + len(self.unattached()) < self.minimum

    @property
    def relies_on_promises(self) -> bool:
        """Whether its minimum is on nodes only if bindings in flight succeed.

        A pod bound on such a promise is bound below the minimum if the promise breaks.
        """
        seen = self.seen_count
        return seen < self.attached_count and seen < self.minimum > 1

    def unattached(self) -> list[PodRecord]:
        """Members that still need a node, oldest first."""
        waiting = [r for r in self.members.values() if not r.node and not r.pod.metadata.deletion_timestamp]
        return sorted(waiting, key=lambda r: (r.created, r.arrival))

    @property
    def record(self) -> "GroupRecord":
        return self

    @property
    def records(self) -> "tuple[GroupRecord]":
        return (self,)

    @property
    def parts(self) -> "tuple[GroupRecord]":
        return (self,)

    @property
    def top(self) -> "GroupRecord":
        return self

    @property
    def tops(self) -> "tuple[GroupRecord]":
        return (self,)

    @property
    def children(self) -> tuple[()]:
        return ()

    @property
    def leaves(self) -> "tuple[GroupRecord]":
        return (self,)

    @property
    def branches(self) -> tuple[()]:
        return ()

    @property
    def started_count(self) -> int:
        return self.attached_count

    @property
    def is_started(self) -> bool:
        return self.attached_count >= self.minimum or self.is_over

    @property
    def is_admissible(self) -> bool:
        return not self.lack or self.is_over

    @property
    def absence(self) -> str:
        return form_of(self.key).absence(self.key, self.siblings) if self.obj is None else ""

    @property
    def lack(self) -> str:
        present = self.attached_count + len(self.unattached())
        if present >= self.minimum:
            return ""
        return f"{present} of the {self.minimum} pods it needs exist" if self.is_gang else "it has no pods"

    @property
    def title(self) -> str:
        return f"pod group {self.key.name}"

    def own_unattached(self) -> list[PodRecord]:
        return self.unattached()

    def is_seen_started(self, being_bound: Collection[GroupKey] = ()) -> bool:
        there = self.attached_count if self.key in being_bound else self.seen_count
        return there >= self.minimum or self.is_over

    def is_whole(self, placed: Collection[str]) -> bool:  # noqa: ARG002 - one of them is a member
        return self.attached_count >= self.minimum


def lowest_priority(groups: Iterable[GroupRecord]) -> int:
    """The lowest priority among members of groups that state none: any higher one could evict a member."""
    return min((record.priority for group in groups for record in group.members.values()), default=0)
