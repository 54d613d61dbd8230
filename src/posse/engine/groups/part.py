"""The interface that pod groups and trees of groups share, so that callers need not distinguish them.

A `Part` is one place in a hierarchy: a pod group, or a composite group with the parts below it. A pod group
has pods and no children; a composite group has children and no pods of its own. A `Root` is a queue entry: a
pod group by itself, or a whole tree.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from posse.engine.causes import GroupAbsent, LacksMembers
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.meta import Quantity


class Part(Protocol):
    """A pod group, or a composite group with the parts below it."""

    @property
    def key(self) -> GroupKey: ...
    @property
    def priority(self) -> int: ...
    @property
    def topology_key(self) -> str: ...
    @property
    def minimum(self) -> int:
        """How many of its own pods or children must start before any does."""

    @property
    def expected(self) -> int:
        """How many pods a basic group says there will be; 0 if it does not say."""

    @property
    def minimum_resources(self) -> Mapping[str, Quantity]: ...
    @property
    def record(self) -> ReportedObject:
        """The record that reports about it are written to."""

    @property
    def children(self) -> "Sequence[Part]": ...
    @property
    def leaves(self) -> Sequence[GroupRecord]:
        """The pod groups it consists of."""

    @property
    def branches(self) -> "Sequence[Part]":
        """The composite groups it consists of, parents before children."""

    @property
    def members(self) -> Mapping[str, PodRecord]:
        """All pods in it, by uid."""

    @property
    def started_count(self) -> int:
        """How many of its own pods are on nodes, or how many of its children have started."""

    @property
    def is_started(self) -> bool:
        """Whether its minimum is on nodes, even if only promised or tentative, or was until it finished."""

    @property
    def is_admissible(self) -> bool:
        """Whether enough pods exist, on nodes or not, for it to start at all, unless it has finished."""

    @property
    def is_over(self) -> bool: ...
    @property
    def has_fallen_short(self) -> bool: ...
    @property
    def lack(self) -> LacksMembers | None:
        """The missing pods or groups that it needs; None if enough exist."""

    @property
    def title(self) -> str:
        """Kind and name, as in messages."""

    def unattached(self) -> list[PodRecord]:
        """All pods in it that still need a node, group by group."""

    def own_unattached(self) -> list[PodRecord]:
        """Its own pods that still need a node, oldest first."""

    def is_seen_started(self, being_bound: Collection[GroupKey] = ()) -> bool:
        """Whether its minimum is on nodes, counting promised bindings of these groups only."""

    def is_whole(self, placed: Collection[str]) -> bool:
        """Whether every part with one of these pods has its minimum on nodes; this part has one."""


class Root(Protocol):
    """A queue entry that is tried as a whole: a pod group by itself, or a whole tree."""

    @property
    def key(self) -> GroupKey: ...
    @property
    def uid(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def waiting_priorities(self) -> Sequence[int]:
        """Priorities of the pods that wait, highest first; more than one only below a basic group."""

    @property
    def minimum(self) -> int: ...
    @property
    def preemption_policy(self) -> str | None: ...
    @property
    def scheduler_name(self) -> str: ...
    @property
    def workload_name(self) -> str: ...
    @property
    def members(self) -> Mapping[str, PodRecord]: ...
    @property
    def leaves(self) -> Sequence[GroupRecord]: ...
    @property
    def records(self) -> Sequence[ReportedObject]:
        """Records that reports are written to.

        The existing composite groups by depth, then the pod groups.
        """

    @property
    def parts(self) -> Sequence[Part]:
        """All parts with an object, also those deeper than a tree may be; composite groups first."""

    @property
    def reported_parts(self) -> Sequence[Part]:
        """The parts of its records, also where there is no top; pod groups first."""

    @property
    def top(self) -> Part | None:
        """None if the object of a tree's root is missing, or if groups are each other's ancestors."""

    @property
    def tops(self) -> Sequence[Part]:
        """The topmost existing parts, also where there is no top."""

    @property
    def relies_on_promises(self) -> bool:
        """Whether it, or a group in it, has its minimum only if bindings in flight succeed."""

    @property
    def absence(self) -> GroupAbsent | None:
        """The missing object that would describe it; None if it exists."""

    def unattached(self) -> list[PodRecord]:
        """Members that still need a node, oldest first."""

    def is_whole(self, placed: Collection[str]) -> bool: ...
