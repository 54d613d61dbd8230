"""Parent links between groups, in whatever order objects arrive. tree_validation.py checks the trees."""

from collections.abc import Iterator, Sequence

from posse.engine.groups.composite_record import CompositeRecord
from posse.engine.groups.forms import key_of, parent_of
from posse.engine.keys import GroupKey
from posse.model.workload import CompositePodGroup, PodGroup


class TreeLinks:
    """A group names its parent, which may not exist yet or may be deleted.

    A missing parent has no parent itself.
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
        """From the parent up, existing or not; each once, though groups may be each other's ancestors."""
        seen = {key: None}
        while (parent := self._parent_of.get(key)) is not None and parent not in seen:
            seen[parent] = None
            yield parent
            key = parent

    def circle(self, key: GroupKey) -> list[GroupKey]:
        """The topmost groups that are each other's ancestors, by name; empty in a tree."""
        above = [key, *self.ancestors(key)]
        last = self._parent_of.get(above[-1])
        return sorted(above[above.index(last) :], key=str) if last is not None else []

    def root_key(self, key: GroupKey) -> GroupKey:
        """The topmost group that is named, existing or not; in a circle, the first of it by name."""
        if key not in self._parent_of:
            return key
        circle = self.circle(key)
        return circle[0] if circle else list(self.ancestors(key))[-1]

    def root(self, key: GroupKey) -> CompositeRecord | None:
        """The root of the group's tree; None for a group by itself, and for a tree without a root."""
        is_part = bool(self._parent_of) and key in self._parent_of
        return self._composites.get(self.root_key(key)) if is_part else None

    def below(self, key: GroupKey) -> list[GroupKey]:
        """The group and all groups below it, level by level."""
        found = {key: None}
        queue = [key]
        for one in queue:
            fresh = [child for child in self.children(one) if child not in found]
            found |= dict.fromkeys(fresh)
            queue += fresh
        return list(found)

    def highest_as_one(self, key: GroupKey) -> CompositeRecord | None:
        """The highest ancestor that is evicted as a whole, if any is."""
        if not self._parent_of:
            return None
        above = [self._composites[one] for one in self.ancestors(key) if one in self._composites]
        return next((record for record in reversed(above) if record.goes_as_one), None)
