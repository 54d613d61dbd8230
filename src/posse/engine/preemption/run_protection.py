"""Groups that may not be preempted before they have run for a while: otherwise work is lost again and again.

While it is protected, the pods of a group count in searches for victims with the highest priority that users
can give. Only pods of the system come before it.
"""

import math
from typing import NamedTuple

from posse.engine.groups.group_record import GroupRecord
from posse.engine.keys import GroupKey
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import VictimsProtected
from posse.model.timestamps import TimestampError, parse_timestamp

PROTECTED_PRIORITY = 1_000_000_000


class ProtectedRun(NamedTuple):
    until: float
    group: GroupRecord


class RunProtection:
    def __init__(self) -> None:
        self.now = 0.0
        self.runs: dict[GroupKey, ProtectedRun] = {}
        """Groups that are protected, and until when."""
        self.changes = 0
        """Counts when a group becomes protected, or until another time, or is no longer."""

    def covers(self, group: GroupRecord) -> bool:
        """Whether its pods may not be preempted now. The run counts from the start of its oldest pod.

        A group whose eviction has begun is not protected: it does not run any more.
        """
        before = self.runs.pop(group.key, None)
        until = self._until(group)
        if until > self.now:
            self.runs[group.key] = ProtectedRun(until, group)
        self.changes += before != self.runs.get(group.key)
        return until > self.now

    def _until(self, group: GroupRecord) -> float:
        seconds = group.minimum_run_seconds
        starts = [_start_of(record) for record in group.members.values() if record.node] if seconds else []
        if not starts or group.is_disrupted:
            group.seen_running_at = None
            return 0.0
        if (started := min(starts)) <= self.now:
            group.seen_running_at = None
            return started + seconds
        # No start is known, or by a clock that is ahead: this must not move on with the time.
        if group.seen_running_at is None:
            group.seen_running_at = self.now
        return group.seen_running_at + seconds

    def take_due(self) -> list[GroupKey]:
        """Groups whose protection is over by now."""
        due = [key for key, run in self.runs.items() if run.until <= self.now]
        for key in due:
            del self.runs[key]
        return due

    def next_wakeup(self) -> float | None:
        return min((run.until for run in self.runs.values()), default=None)

    def still_holds(self, told: VictimsProtected) -> bool:
        """Whether the group that was named is protected until the same time."""
        run = self.runs.get(told.group)
        return run is not None and run.until == told.until


def _start_of(record: PodRecord) -> float:
    """As its status says, which every scheduler reads; until then, when it was placed."""
    try:
        started = parse_timestamp(record.pod.status.start_time) if record.pod.status.start_time else 0.0
    except TimestampError:
        started = 0.0
    return started or record.placed_at or math.inf
