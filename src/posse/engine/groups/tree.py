"""A tree of groups as it is at one moment: the groups of groups above, pods' groups as leaves. It decides nothing.

A tree is put together when it is looked at and not kept. What has to be remembered of it is in the records of its groups.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from posse.engine.groups.composite_record import CompositeRecord
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord

MOST_LEVELS = 4
"""Of groups, those of pods included."""


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A group of groups with those that name it as their parent, the oldest first."""

    record: CompositeRecord
    children: "tuple[Branch | GroupRecord, ...]"

    @property
    def key(self) -> GroupKey:
        return self.record.key

    @property
    def minimum(self) -> int:
        return self.record.minimum

    @property
    def topology_key(self) -> str:
        return self.record.topology_key

    @property
    def members(self) -> dict[str, PodRecord]:
        """Of all leaves below, by uid."""
        return {uid: record for leaf in self.leaves() for uid, record in leaf.members.items()}

    def leaves(self) -> Iterator[GroupRecord]:
        for child in self.children:
            if isinstance(child, Branch):
                yield from child.leaves()
            else:
                yield child

    def branches(self) -> "Iterator[Branch]":
        """Of all groups of groups, itself first, parents before children."""
        yield self
        for child in self.children:
            if isinstance(child, Branch):
                yield from child.branches()


Part = Branch | GroupRecord


@dataclass(slots=True, eq=False)
class Tree:
    """Everything that hangs below one root, and is queued and tried as one."""

    key: GroupKey
    """Of the root, whether that exists or not."""
    top: Branch | None
    """None as long as the object of the root is missing, or if groups are each other's ancestors."""
    composites: tuple[CompositeRecord, ...]
    """All groups of groups that exist, in the order of their depth."""
    leaves: tuple[GroupRecord, ...]
    members: dict[str, PodRecord] = field(init=False)
    """Of all leaves, by uid."""

    def __post_init__(self) -> None:
        self.members = {uid: record for leaf in self.leaves for uid, record in leaf.members.items()}

    @property
    def priority(self) -> int:
        return self.top.record.priority if self.top is not None else 0

    @property
    def uid(self) -> str:
        return self.top.record.uid if self.top is not None else ""

    @property
    def preemption_policy(self) -> str | None:
        return self.top.record.composite.spec.preemption_policy if self.top is not None else None

    @property
    def relies_on_promises(self) -> bool:
        """Whether it, or a group in it, has its minimum only if bindings hold that are still on their way."""
        if any(leaf.relies_on_promises for leaf in self.leaves):
            return True
        promised = any(record.node and not record.pod.spec.node_name for record in self.members.values())
        return promised and self.top is not None and is_started(self.top) and not is_seen_started(self.top)

    @property
    def scheduler_name(self) -> str:
        return next((record.ref.scheduler_name for record in self.members.values()), "")

    def unattached(self) -> list[PodRecord]:
        """Members that still need a node, oldest first."""
        waiting = [record for leaf in self.leaves for record in leaf.unattached()]
        return sorted(waiting, key=lambda record: (record.created, record.arrival))


def unattached(part: Part) -> list[PodRecord]:
    """Members that still need a node, group by group."""
    leaves = part.leaves() if isinstance(part, Branch) else (part,)
    return [record for leaf in leaves for record in leaf.unattached()]


def is_started(part: Part) -> bool:
    """Whether it has its minimum on nodes, those included that are promised or only tried there, or had it to its end."""
    if isinstance(part, Branch):
        return started_children(part) >= part.minimum
    return part.attached_count >= part.minimum or part.is_over


def started_children(branch: Branch) -> int:
    return sum(1 for child in branch.children if is_started(child))


def is_admissible(part: Part) -> bool:
    """Whether enough members exist, on nodes or not, for it to start at all, unless it has come to its end."""
    if isinstance(part, Branch):
        return admissible_children(part) >= part.minimum
    return part.attached_count + len(part.unattached()) >= part.minimum or part.is_over


def admissible_children(branch: Branch) -> int:
    return sum(1 for child in branch.children if is_admissible(child))


def is_seen_started(part: Part, being_bound: Collection[GroupKey] = ()) -> bool:
    """Whether it has its minimum on nodes without counting on bindings that are still on their way, but for these groups."""
    if isinstance(part, Branch):
        return sum(1 for child in part.children if is_seen_started(child, being_bound)) >= part.minimum
    there = part.attached_count if part.key in being_bound else part.seen_count
    return there >= part.minimum or part.is_over


Root = GroupRecord | Tree
"""What the queue holds: a group by itself, or a whole tree."""


def leaves_of(root: Root) -> Sequence[GroupRecord]:
    """The groups of pods that it consists of."""
    return root.leaves if isinstance(root, Tree) else (root,)


def is_whole(root: Root, placed: Collection[str]) -> bool:
    """Whether everything that one of these pods is part of has its minimum on nodes."""
    if isinstance(root, Tree):
        return root.top is not None and _is_whole_below(root.top, placed)
    return root.attached_count >= root.minimum


def _is_whole_below(part: Part, placed: Collection[str]) -> bool:
    leaves = part.leaves() if isinstance(part, Branch) else (part,)
    if not any(uid in placed for leaf in leaves for uid in leaf.members):
        return True
    if isinstance(part, Branch):
        return is_started(part) and all(_is_whole_below(child, placed) for child in part.children)
    return part.attached_count >= part.minimum


def root_of(groups: GroupBook, key: GroupKey) -> Root | None:
    """Of a group by itself, its own record; None of what nobody knows, and of what is not at the top."""
    if not key.is_composite:
        return groups.get(key) if groups.links.root_key(key) == key else None
    keys = groups.links.below(key) if groups.links.root_key(key) == key else []
    found = [groups.links.composite(one) for one in keys]
    leaves = [groups.get(one) for one in keys if not one.is_composite]
    return Tree(
        key,
        _branch(groups, key, MOST_LEVELS) if keys and not groups.links.circle(key) else None,
        tuple(record for record in found if record is not None),
        tuple(leaf for leaf in leaves if leaf is not None),
    )


def tops(groups: GroupBook, tree: Tree) -> list[Part]:
    """What stands at the top of what exists: the root; where that is missing, what names it.

    Of groups that are each other's ancestors, each with what else is below it.
    """
    if tree.top is not None:
        return [tree.top]
    circle = groups.links.circle(tree.key)
    if not circle:
        return _parts(groups, groups.links.children(tree.key))
    records = [(key, groups.links.composite(key)) for key in circle]
    below = {key: [one for one in groups.links.children(key) if one not in circle] for key in circle}
    return [Branch(record, tuple(_parts(groups, below[key]))) for key, record in records if record]


def _parts(groups: GroupBook, keys: Sequence[GroupKey]) -> list[Part]:
    found = (_part(groups, key, MOST_LEVELS) for key in keys)
    return sorted((part for part in found if part is not None), key=_order)


def _branch(groups: GroupBook, key: GroupKey, levels: int) -> Branch | None:
    """With so many levels below it at the most: a tree that is too deep need not be known to its end."""
    record = groups.links.composite(key)
    if record is None:
        return None
    below = groups.links.children(key) if levels else ()
    parts = (_part(groups, child, levels - 1) for child in below)
    children = sorted((part for part in parts if part is not None), key=_order)
    return Branch(record, tuple(children))


def _part(groups: GroupBook, key: GroupKey, levels: int) -> Part | None:
    return _branch(groups, key, levels) if key.is_composite else groups.get(key)


def _order(part: Part) -> tuple[str, str]:
    """The oldest first."""
    obj = part.record.composite if isinstance(part, Branch) else part.podgroup
    return obj.metadata.creation_timestamp if obj is not None else "", part.key.name
