"""Composite groups and the links of groups to their parents, in whatever order objects arrive.

`tree_validation` checks the trees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from posse.engine.groups.annotations import GROUP_ANNOTATIONS, AnnotationFault, AnnotationProblem, fault
from posse.engine.groups.forms import TREE_INITIALLY_SCHEDULED, key_of, parent_of
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.keys import GroupKey
from posse.model.workload import CompositePodGroup, PodGroup

MAX_ABOVE = 16
"""Ancestors that are followed, more than a valid tree has. A group with more of them is buried."""
MAX_GROUPS = 5_000
"""Groups of a tree that are read."""


@dataclass(slots=True, eq=False)
class CompositeRecord(ReportedObject):
    """A composite group as the engine knows it: its object, and the last report about it."""

    obj: CompositePodGroup

    condition_type: ClassVar[str] = TREE_INITIALLY_SCHEDULED

    @property
    def minimum(self) -> int:
        """How many children must start before any does: with the basic policy, one."""
        gang = self.obj.spec.scheduling_policy.gang
        return gang.min_group_count if gang is not None else 1

    @property
    def annotation_faults(self) -> tuple[AnnotationFault, ...]:
        stated = self.obj.metadata.annotations
        names = [name for name in GROUP_ANNOTATIONS if name in stated] if stated else ()
        return tuple(fault(name, stated[name], AnnotationProblem.COMPOSITE) for name in names)

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


class TreeLinks:
    """A group names its parent, which may not exist yet or may be deleted.

    A missing parent has no parent itself. A chain of any length costs each of its groups the same, because a
    buried group is not part of a tree: it stands for itself, and is not tried.
    """

    def __init__(self) -> None:
        self._composites: dict[GroupKey, CompositeRecord] = {}
        self._parent_of: dict[GroupKey, GroupKey] = {}
        self._children_of: dict[GroupKey, dict[GroupKey, None]] = {}
        self._from_workload: dict[tuple[str, str], dict[GroupKey, None]] = {}
        """Composite groups made from a Workload, by its namespace and name."""

    def composite(self, key: GroupKey) -> CompositeRecord | None:
        return self._composites.get(key)

    def composite_keys(self) -> list[GroupKey]:
        """Keys of all existing composite groups, in order of their first sight."""
        return list(self._composites)

    def put(self, composite: CompositePodGroup) -> CompositeRecord:
        key = key_of(composite)
        record = self._composites.setdefault(key, CompositeRecord(key, composite))
        record.define(composite)
        self.link(key, composite)
        if composite.spec.workload_ref is not None:
            place = key.namespace, composite.spec.workload_ref.workload_name
            self._from_workload.setdefault(place, {})[key] = None
        return record

    def drop(self, key: GroupKey) -> None:
        self._composites.pop(key, None)
        self.link(key, None)

    def roots_from(self, namespace: str, workload: str) -> list[GroupKey]:
        """The roots of trees with groups that were made from the Workload."""
        made = self._from_workload.get((namespace, workload), {})
        still = {key: None for key in made if key in self._composites}
        if still:
            self._from_workload[namespace, workload] = still
        else:
            self._from_workload.pop((namespace, workload), None)
        return list(dict.fromkeys(self.root_key(key) for key in still))

    def link(self, key: GroupKey, obj: PodGroup | CompositePodGroup | None) -> None:
        """Record the parent that the group names; without an object it names none."""
        parent, before = parent_of(key, obj), self._parent_of.get(key)
        if parent == before:
            return
        if before is not None:
            del self._parent_of[key]
            del self._children_of[before][key]
            if not self._children_of[before]:
                del self._children_of[before]
        if parent is not None:
            self._parent_of[key] = parent
            self._children_of.setdefault(parent, {})[key] = None

    def children(self, key: GroupKey) -> Sequence[GroupKey]:
        return list(self._children_of.get(key, ()))

    def ancestors(self, key: GroupKey) -> Iterator[GroupKey]:
        """From the parent up, existing or not; each once, though groups may be each other's ancestors.

        At most one more than a group may have that is not buried.
        """
        seen = {key: None}
        while (parent := self._parent_of.get(key)) is not None and parent not in seen:
            if len(seen) > MAX_ABOVE + 1:
                return
            seen[parent] = None
            yield parent
            key = parent

    def is_buried(self, key: GroupKey) -> bool:
        """Whether it has more ancestors than are followed."""
        return key in self._parent_of and sum(1 for _ in self.ancestors(key)) > MAX_ABOVE

    def circle(self, key: GroupKey) -> list[GroupKey]:
        """The topmost groups that are each other's ancestors, by name; empty in a tree."""
        above = [key, *self.ancestors(key)]
        if len(above) > MAX_ABOVE + 1:
            return []
        last = self._parent_of.get(above[-1])
        return sorted(above[above.index(last) :], key=str) if last is not None else []

    def root_key(self, key: GroupKey) -> GroupKey:
        """The topmost group that is named, existing or not; in a circle, the first of it by name."""
        if key not in self._parent_of:
            return key
        circle = self.circle(key)
        if circle:
            return circle[0]
        above = list(self.ancestors(key))
        return key if len(above) > MAX_ABOVE else above[-1]

    def root(self, key: GroupKey) -> CompositeRecord | None:
        """The root of the group's tree; None for a group by itself, and for a tree without a root."""
        is_part = bool(self._parent_of) and key in self._parent_of
        return self._composites.get(self.root_key(key)) if is_part else None

    def below(self, key: GroupKey) -> list[GroupKey]:
        """The group and the groups below it that are not buried, level by level, up to the limit."""
        if key not in self._children_of:
            return [key]
        found, level = {key: None}, [key]
        for _ in range(MAX_ABOVE):
            children = (child for one in level for child in self._children_of.get(one, ()))
            level = list(islice(dict.fromkeys(c for c in children if c not in found), MAX_GROUPS))
            found |= dict.fromkeys(level)
            if not level or len(found) > MAX_GROUPS:
                break
        return list(found)

    def highest_joined(self, key: GroupKey) -> CompositeRecord | None:
        """The highest ancestor that has the priority of the group: only gangs are between them."""
        joined = None
        for above in self.ancestors(key):
            record = self._composites.get(above)
            if record is None or not record.is_gang:
                break
            joined = record
        return joined

    def highest_as_one(self, key: GroupKey) -> CompositeRecord | None:
        """The highest ancestor that is evicted as a whole, if any is."""
        if not self._parent_of:
            return None
        above = [self._composites[one] for one in self.ancestors(key) if one in self._composites]
        return next((record for record in reversed(above) if record.goes_as_one), None)
