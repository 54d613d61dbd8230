"""Groups that may not be preempted before they have run for a while: otherwise work is lost again and again.

While it is protected, the pods of a group count in searches for victims with the highest priority that users
can give. Only pods of the system come before it.
"""

from posse.engine.groups.group_record import GroupRecord
from posse.engine.keys import GroupKey
from posse.engine.queue.run_times import started_at

PROTECTED_PRIORITY = 1_000_000_000


class RunProtection:
    def __init__(self) -> None:
        self.now = 0.0
        self.until: dict[GroupKey, float] = {}
        """When the protection of groups ends."""

    def covers(self, group: GroupRecord) -> bool:
        """Whether its pods may not be preempted now. The run counts from the start of its oldest pod.

        A group whose eviction has begun is not protected: it does not run any more.
        """
        self.until.pop(group.key, None)
        starts = [started_at(record) for record in group.members.values() if record.node]
        if not starts or group.is_disrupted:
            return False
        until = min(self.now, *starts) + group.minimum_run_seconds
        if until <= self.now:
            return False
        self.until[group.key] = until
        return True

    def take_due(self) -> list[GroupKey]:
        """Groups whose protection is over by now."""
        due = [key for key, until in self.until.items() if until <= self.now]
        for key in due:
            del self.until[key]
        return due

    def next_wakeup(self) -> float | None:
        return min(self.until.values(), default=None)
