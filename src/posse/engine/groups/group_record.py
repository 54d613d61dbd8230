"""A pod group as the engine knows it: its members, its object, and what was reported about it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import ClassVar, NamedTuple

from posse.engine.causes import GroupAbsent, LacksPods
from posse.engine.groups.annotations import (
    EXPECTED_DURATION,
    GROUP_ANNOTATIONS,
    MINIMUM_RUN_TIME,
    PREFERRED_TOPOLOGY,
    AnnotationFault,
    faults_of,
    stated_labels,
    stated_seconds,
)
from posse.engine.groups.forms import DISRUPTION_TARGET, INITIALLY_SCHEDULED
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.limits import Excess
from posse.model.meta import Quantity
from posse.model.pod import Pod
from posse.model.workload import PodGroup

PREEMPTED = "Preempted"
MAX_PROTECTED_SECONDS = 3600.0
"""Any tenant can state it, so it is bounded: longer protection would undo priorities."""
_BY_AGE = attrgetter("created", "arrival")


class LostMember(NamedTuple):
    """A member that left its node without success, and why, as far as the pod tells."""

    pod: str
    node: str
    cause: str
    """The predicate of a sentence about the pod."""


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
    """What it stated of that when it started, which bounds its reservation. None until it is seen."""
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
    lost: list[LostMember] = field(default_factory=list)
    """Members that left their nodes without success, until it is reported that the group fell short."""
    awaits_volumes: bool = False
    """Members have nodes, but none is bound before the claims of all of them are."""
    awaits_bindings: bool = False
    """It is not tried until its promised members are seen on their nodes, or refused."""
    seen_running_at: float | None = None
    """When it was first seen on nodes, as long as the start of no pod is known."""
    gathered: bool = False
    """It was ready once, with or without all the pods it expects, and does not wait for them again."""

    condition_type: ClassVar[str] = INITIALLY_SCHEDULED

    def define(self, podgroup: PodGroup | None) -> None:
        if self.is_replaced_by(podgroup):
            self.forget_reports()
            self.has_completed_members = self.is_known_to_be_short = self.gathered = False
            self.lost = []
        self.obj = podgroup
        self.gathered = self.read_conditions() or self.gathered

    def forget_losses(self) -> None:
        self.left, self.is_known_to_be_short = None, False
        if self.lost:
            self.lost.clear()

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
    def preferred_topology(self) -> tuple[str, ...]:
        """Node labels whose values members share if possible, the widest first, by annotation."""
        text = self._annotation(PREFERRED_TOPOLOGY)
        return stated_labels(text)[0] if text is not None else ()

    @property
    def minimum_run_seconds(self) -> float:
        """How long it runs before it may be preempted, by annotation; 0 if none says so."""
        text = self._annotation(MINIMUM_RUN_TIME)
        if text is None:
            return 0.0
        return min(stated_seconds(MINIMUM_RUN_TIME, text)[0] or 0.0, MAX_PROTECTED_SECONDS)

    @property
    def expected_seconds(self) -> float | None:
        """How long it is expected to run, by annotation."""
        text = self._annotation(EXPECTED_DURATION)
        return stated_seconds(EXPECTED_DURATION, text)[0] if text is not None else None

    @property
    def annotation_faults(self) -> tuple[AnnotationFault, ...]:
        of_group = self.obj.metadata.annotations if self.obj is not None else None
        of_pods = next(iter(self.members.values())).pod.metadata.annotations if self.members else None
        if not of_group and not of_pods:
            return ()
        return faults_of({name: self._annotation(name) for name in GROUP_ANNOTATIONS})

    def _annotation(self, name: str) -> str | None:
        """Of the group, or else of the member seen first: pods have the annotations of templates."""
        text = self.obj.metadata.annotations.get(name) if self.obj is not None else None
        if text is None and self.members:
            text = next(iter(self.members.values())).pod.metadata.annotations.get(name)
        return text

    @property
    def states_priority(self) -> bool:
        """Whether the group has a priority of its own, which counts instead of its members'."""
        return self.obj is not None and self.obj.spec.priority is not None

    @property
    def priority(self) -> int:
        """Its own priority, else the lowest of its members."""
        if self.obj is None:
            return 0
        stated = self.obj.spec.priority
        return stated if stated is not None else lowest_priority(self.members.values())

    @property
    def waiting_priorities(self) -> tuple[int, ...]:
        return (self.priority,)

    @property
    def scheduler_name(self) -> str:
        first = next(iter(self.members.values()), None)
        return first.ref.scheduler_name if first is not None else ""

    @property
    def attached_count(self) -> int:
        """Members on nodes, promised ones included; victims still terminating there do not count."""
        return len([1 for record in self.members.values() if record.node and not record.evicted_for])

    @property
    def seen_count(self) -> int:
        """Members that are seen on their nodes."""
        members = self.members.values()
        return len([1 for record in members if record.pod.spec.node_name and not record.evicted_for])

    @property
    def present_count(self) -> int:
        """Members on nodes, and members that still need one."""
        return self.attached_count + len(self._waiting())

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
        return has_ended and self.present_count < self.minimum

    @property
    def relies_on_promises(self) -> bool:
        """Whether its minimum is on nodes only if bindings in flight succeed.

        A pod bound on such a promise is bound below the minimum if the promise breaks.
        """
        attached, minimum = self.attached_count, self.minimum
        return attached > 0 and minimum > 1 and self.seen_count < min(attached, minimum)

    def unattached(self) -> list[PodRecord]:
        """Members that still need a node, oldest first."""
        return sorted(self._waiting(), key=_BY_AGE)

    def _waiting(self) -> list[PodRecord]:
        return [r for r in self.members.values() if not r.node and not r.pod.metadata.deletion_timestamp]

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
    def reported_parts(self) -> "tuple[GroupRecord]":
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
        return self.present_count >= self.minimum or self.is_over

    @property
    def absence(self) -> GroupAbsent | None:
        return GroupAbsent(self.key, self.siblings) if self.obj is None else None

    @property
    def lack(self) -> LacksPods | None:
        present = self.present_count
        return LacksPods(present, self.minimum, self.is_gang) if present < self.minimum else None

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


def lowest_priority(members: Iterable[PodRecord]) -> int:
    """The priority of groups that state none: any higher one could evict a member."""
    return min([record.pod.spec.priority or 0 for record in members], default=0)


def lost_member(pod: Pod, node: str) -> LostMember:
    return LostMember(pod.metadata.name, node, _cause_of_loss(pod))


def _cause_of_loss(pod: Pod) -> str:
    disruption = next((one for one in pod.status.conditions if one.type == DISRUPTION_TARGET), None)
    if disruption is not None and disruption.status == "True":
        return f"was disrupted: {disruption.message or disruption.reason}"
    if pod.status.phase == "Failed":
        return f"failed: {pod.status.reason}" if pod.status.reason else "failed"
    return "was deleted"
