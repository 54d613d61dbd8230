"""A tree of groups at one moment: composite groups above, pod groups as leaves. It decides nothing.

A tree is built when it is looked at and not kept. What has to be remembered is in the records of its groups.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from posse.engine.causes import GroupAbsent, LacksGroups
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord, lowest_priority
from posse.engine.groups.hierarchy_links import CompositeRecord
from posse.engine.groups.part import Part, Root
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.model.meta import Quantity

MAX_LEVELS = 4
"""Levels of groups, pod groups included."""
_MAX_NAMED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A composite group with its children, oldest first; `Part` describes its interface.

    Below a basic group, whose children may differ in priority, the highest come first.
    """

    record: CompositeRecord
    children: tuple[Part, ...]

    @property
    def key(self) -> GroupKey:
        return self.record.key

    @property
    def priority(self) -> int:
        stated = self.record.priority
        return stated if stated is not None else lowest_priority(self.members.values())

    @property
    def topology_key(self) -> str:
        return self.record.topology_key

    @property
    def minimum(self) -> int:
        return self.record.minimum

    @property
    def expected(self) -> int:
        return 0

    @property
    def minimum_resources(self) -> Mapping[str, Quantity]:
        return {}

    @property
    def leaves(self) -> tuple[GroupRecord, ...]:
        return tuple(leaf for child in self.children for leaf in child.leaves)

    @property
    def branches(self) -> tuple[Part, ...]:
        return (self, *(branch for child in self.children for branch in child.branches))

    @property
    def members(self) -> dict[str, PodRecord]:
        return {uid: record for leaf in self.leaves for uid, record in leaf.members.items()}

    @property
    def started_count(self) -> int:
        return sum(1 for child in self.children if child.is_started)

    @property
    def is_started(self) -> bool:
        return self.started_count >= self.minimum

    @property
    def is_admissible(self) -> bool:
        return self._admissible_count >= self.minimum

    @property
    def _admissible_count(self) -> int:
        return sum(1 for child in self.children if child.is_admissible)

    @property
    def is_over(self) -> bool:
        return False

    @property
    def has_fallen_short(self) -> bool:
        return self.record.scheduled and not self.is_started and not self.record.is_being_deleted

    @property
    def lack(self) -> LacksGroups | None:
        able = self._admissible_count
        if able >= self.minimum:
            return None
        lacking = tuple(child.key.name for child in self.children if not child.is_admissible)
        named = lacking[:_MAX_NAMED]
        return LacksGroups(able, self.minimum, len(self.children), named, len(lacking) - len(named))

    @property
    def title(self) -> str:
        return f"composite pod group {self.key.name}"

    def unattached(self) -> list[PodRecord]:
        return [record for leaf in self.leaves for record in leaf.unattached()]

    def own_unattached(self) -> list[PodRecord]:
        return []

    def is_seen_started(self, being_bound: Collection[GroupKey] = ()) -> bool:
        return sum(1 for child in self.children if child.is_seen_started(being_bound)) >= self.minimum

    def is_whole(self, placed: Collection[str]) -> bool:
        return self.is_started and all(child.is_whole(placed) for child in _having(self.children, placed))


@dataclass(slots=True, eq=False)
class Tree:
    """Everything below one root, queued and tried as a whole; `Root` describes its interface."""

    key: GroupKey
    """Key of the root, whether that exists or not."""
    top: Branch | None
    tops: Sequence[Part]
    """The top; if the root is missing, the parts that name it; in a circle, each of its groups."""
    composites: tuple[CompositeRecord, ...]
    """All composite groups that exist, by depth."""
    leaves: tuple[GroupRecord, ...]
    members: dict[str, PodRecord] = field(init=False)
    """Members of all leaves, by uid."""

    def __post_init__(self) -> None:
        self.members = {uid: record for leaf in self.leaves for uid, record in leaf.members.items()}

    @property
    def records(self) -> tuple[CompositeRecord | GroupRecord, ...]:
        return (*self.composites, *self.leaves)

    @property
    def parts(self) -> tuple[Part, ...]:
        return (*(Branch(record, ()) for record in self.composites), *self.leaves)

    @property
    def reported_parts(self) -> tuple[Part, ...]:
        return (*self.leaves, *(branch for top in self.tops for branch in top.branches))

    @property
    def priority(self) -> int:
        return self.top.priority if self.top is not None else 0

    @property
    def waiting_priorities(self) -> tuple[int, ...]:
        if all(record.is_gang for record in self.composites):
            return (self.priority,)
        found = dict.fromkeys(one.effective_priority for leaf in self.leaves for one in leaf.unattached())
        return tuple(sorted(found, reverse=True)) or (self.priority,)

    @property
    def minimum(self) -> int:
        return self.top.minimum if self.top is not None else 1

    @property
    def uid(self) -> str:
        return self.top.record.uid if self.top is not None else ""

    @property
    def preemption_policy(self) -> str | None:
        return self.top.record.preemption_policy if self.top is not None else None

    @property
    def workload_name(self) -> str:
        return self.top.record.workload_name if self.top is not None else ""

    @property
    def absence(self) -> GroupAbsent | None:
        return GroupAbsent(self.key) if self.top is None else None

    @property
    def relies_on_promises(self) -> bool:
        if any(leaf.relies_on_promises for leaf in self.leaves):
            return True
        promised = any(record.node and not record.pod.spec.node_name for record in self.members.values())
        return promised and self.top is not None and self.top.is_started and not self.top.is_seen_started()

    @property
    def scheduler_name(self) -> str:
        return next((record.ref.scheduler_name for record in self.members.values()), "")

    def unattached(self) -> list[PodRecord]:
        waiting = [record for leaf in self.leaves for record in leaf.unattached()]
        return sorted(waiting, key=lambda record: (record.created, record.arrival))

    def is_whole(self, placed: Collection[str]) -> bool:
        return self.top is not None and all(top.is_whole(placed) for top in _having((self.top,), placed))


def _having(parts: Sequence[Part], placed: Collection[str]) -> Iterator[Part]:
    """Parts that contain one of these pods."""
    return (part for part in parts if any(uid in placed for uid in part.members))


def root_of(groups: GroupBook, key: GroupKey) -> Root | None:
    """The pod group itself if it has no parent; None for a key that is unknown, or not at the top."""
    if not key.is_composite:
        return groups.get(key) if groups.links.root_key(key) == key else None
    if groups.links.is_buried(key):
        return _alone(groups, key)
    keys = groups.links.below(key) if groups.links.root_key(key) == key else []
    circle = groups.links.circle(key)
    top = _branch(groups, key, MAX_LEVELS) if keys and not circle else None
    found = [groups.links.composite(one) for one in keys]
    leaves = [groups.get(one) for one in keys if not one.is_composite]
    return Tree(
        key,
        top,
        (top,) if top is not None else _tops(groups, key, circle),
        tuple(record for record in found if record is not None),
        tuple(leaf for leaf in leaves if leaf is not None),
    )


def _alone(groups: GroupBook, key: GroupKey) -> Tree | None:
    """A composite group without the groups below it."""
    record = groups.links.composite(key)
    top = Branch(record, ()) if record is not None else None
    return Tree(key, top, (top,), (top.record,), ()) if top is not None else None


def _tops(groups: GroupBook, key: GroupKey, circle: Sequence[GroupKey]) -> list[Part]:
    """The topmost parts of a tree without a root."""
    if not circle:
        return _parts(groups, groups.links.children(key), MAX_LEVELS)
    records = [(one, groups.links.composite(one)) for one in circle]
    below = {one: [child for child in groups.links.children(one) if child not in circle] for one in circle}
    return [
        Branch(record, tuple(_parts(groups, below[one], MAX_LEVELS)))
        for one, record in records
        if record is not None
    ]


def _parts(groups: GroupBook, keys: Sequence[GroupKey], levels: int) -> list[Part]:
    """Parts, oldest first."""
    found = (_branch(groups, key, levels) if key.is_composite else groups.get(key) for key in keys)
    parts: list[Part] = [part for part in found if part is not None]
    return sorted(parts, key=lambda part: part.record.age)


def _branch(groups: GroupBook, key: GroupKey, levels: int) -> Branch | None:
    """The branch with at most this many levels below it.

    A tree that is too deep need not be read to its end.
    """
    record = groups.links.composite(key)
    if record is None:
        return None
    children = _parts(groups, groups.links.children(key) if levels else (), levels - 1)
    if not record.is_gang:
        children.sort(key=lambda part: -part.priority)
    return Branch(record, tuple(children))
