"""The order in which what waits for capacity is tried, and what is ahead of an entry."""

import msgspec

from posse.engine.explain.group_status import lasting_hold
from posse.engine.groups.tree import root_of
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.queue.backlog import Key, Waiting
from posse.engine.state.pod_record import PodRecord


class Ahead(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Waiting entries ahead of it, by priority and the policy of the queue."""

    pods: int
    groups: int
    rivals: int = 0
    """Others of its priority, where expected run times decide, of which only its scheduler knows all."""

    @property
    def may_be_any(self) -> bool:
        return bool(self.pods or self.groups or self.rivals)


def is_by_run_time(knowledge: Knowledge) -> bool:
    """Whether expected run times decide the order: then priority and age do not tell it."""
    return knowledge.lookahead is not None and knowledge.lookahead.is_by_run_time


def entries_in_order(knowledge: Knowledge) -> list[Waiting]:
    """What waits for capacity alone."""
    pods: dict[Key, list[PodRecord]] = {}
    for record in knowledge.pods.values():
        if not record.node and knowledge.is_waiting(record):
            pods.setdefault(knowledge.queue_key(record), []).append(record)
    found = [entry for key, own in pods.items() if (entry := _entry(knowledge, key, own)) is not None]
    return sorted(found, key=Waiting.order)


def _entry(knowledge: Knowledge, key: Key, records: list[PodRecord]) -> Waiting | None:
    """Its entry in the queue; one like it where the engine has not decided yet."""
    known = knowledge.backlog.get(key)
    if known is not None:
        return known
    priority = records[0].priority
    if isinstance(key, GroupKey):
        root = root_of(knowledge.groups, key)
        if root is None or lasting_hold(knowledge, root) is not None:
            return None
        priority, records = root.priority, root.unattached() or records
    made = Waiting(key, priority, records[0].created, records[0].arrival, len(records))
    if knowledge.lookahead is not None:
        knowledge.lookahead.rank(made, knowledge.run_times.now)
    return made


def ahead_of_each(entries: list[Waiting]) -> dict[Key, Ahead]:
    """What is ahead of each of these entries, which are in order."""
    found, pods, groups = dict[Key, Ahead](), 0, 0
    for entry in entries:
        found[entry.key] = Ahead(pods, groups)
        groups += isinstance(entry.key, GroupKey)
        pods += not isinstance(entry.key, GroupKey)
    return found


def ahead_of(knowledge: Knowledge, key: Key) -> Ahead | None:
    """What is ahead of an entry; None if it does not wait for capacity."""
    entries = entries_in_order(knowledge)
    found = ahead_of_each(entries).get(key)
    if found is None or not is_by_run_time(knowledge):
        return found
    own = next(entry for entry in entries if entry.key == key)
    rivals = sum(1 for one in entries if one.priority == own.priority and one is not own)
    return Ahead(found.pods, found.groups, rivals)
