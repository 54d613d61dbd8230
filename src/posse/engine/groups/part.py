"""The questions that a pod group and a tree of groups answer alike, so that callers need not tell them apart.

A `Part` is one place in a hierarchy: a pod group, or a composite group with what is below it. A pod group has pods and
no children, a composite group has children and no pods of its own: what holds for both is said once, of both.
A `Root` is what the queue holds: a pod group by itself, or a whole tree.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.meta import Quantity


class Part(Protocol):
    """A pod group, or a composite group with what is below it."""

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
        """What reports about it are written to."""

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
        """How many of its own pods are on nodes, or of its children have started."""

    @property
    def is_started(self) -> bool:
        """Whether its minimum is on nodes, promised and tentative placements included, or was until it ended."""

    @property
    def is_admissible(self) -> bool:
        """Whether enough pods exist, on nodes or not, for it to start at all, unless it has ended."""

    @property
    def is_over(self) -> bool: ...
    @property
    def has_fallen_short(self) -> bool: ...
    @property
    def lack(self) -> str:
        """Which pods or groups it needs do not exist; empty if enough do."""

    @property
    def title(self) -> str:
        """Kind and name, as messages have it."""

    def unattached(self) -> list[PodRecord]:
        """All pods in it that still need a node, group by group."""

    def own_unattached(self) -> list[PodRecord]:
        """Its own pods that still need a node, oldest first."""

    def is_seen_started(self, being_bound: Collection[GroupKey] = ()) -> bool:
        """Whether its minimum is on nodes without counting promised bindings, except those of these groups."""

    def is_whole(self, placed: Collection[str]) -> bool:
        """Whether all that one of these pods is part of has its minimum on nodes; it contains one of them."""


class Root(Protocol):
    """What is queued and tried as one: a pod group by itself, or a whole tree."""

    @property
    def key(self) -> GroupKey: ...
    @property
    def uid(self) -> str: ...
    @property
    def priority(self) -> int: ...
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
        """What reports are written to: the composite groups that exist by depth, then the pod groups."""

    @property
    def parts(self) -> Sequence[Part]:
        """All parts of which an object exists, also those deeper than a tree may be; composite groups first."""

    @property
    def top(self) -> Part | None:
        """None if the object of a tree's root is missing, or if groups are each other's ancestors."""

    @property
    def tops(self) -> Sequence[Part]:
        """What is at the top of what exists, also where there is no top."""

    @property
    def relies_on_promises(self) -> bool:
        """Whether it, or a group in it, has its minimum only if bindings hold that are still on their way."""

    @property
    def absence(self) -> str:
        """What does not exist yet that describes it; empty if it does."""

    def unattached(self) -> list[PodRecord]:
        """Members that still need a node, oldest first."""

    def is_whole(self, placed: Collection[str]) -> bool: ...
