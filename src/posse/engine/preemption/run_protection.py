"""Groups that may not be preempted before they have run for a while: otherwise work is lost again and again.

While it is protected, the pods of a group count in searches for victims with the highest priority that users
can give. Only pods of the system come before it.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from posse.engine.groups.group_record import GroupRecord
from posse.engine.keys import GroupKey
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import VictimsProtected
from posse.model.timestamps import TimestampError, parse_timestamp

PROTECTED_PRIORITY = 1_000_000_000

FindVictims = Callable[[], Sequence[PodRecord] | None]
"""A search for victims in the present state; None if no eviction helps."""


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
        return min(self.now, *starts) + seconds if starts and not group.is_disrupted else 0.0

    def take_due(self) -> list[GroupKey]:
        """Groups whose protection is over by now."""
        due = [key for key, run in self.runs.items() if run.until <= self.now]
        for key in due:
            del self.runs[key]
        return due

    def next_wakeup(self) -> float | None:
        return min((run.until for run in self.runs.values()), default=None)

    def in_the_way(
        self, state: ClusterState, priority: int, find_victims: FindVictims
    ) -> VictimsProtected | None:
        """What has to lose its protection so that a fruitless search for victims finds some.

        Of all sets that suffice, it is the one that is free first. The state is unchanged.
        """
        runs = sorted((run for run in self.runs.values() if _is_below(run, priority)), key=_by_end)
        if not runs:
            return None
        with state.effort.aside():
            enough = _first(len(runs), lambda count: _found(state, runs[:count], find_victims) is not None)
            if enough is None:
                return None
            victims = _found(state, runs[:enough], find_victims) or ()
        groups = dict.fromkeys(record.group for record in victims)
        held = [run for run in runs[:enough] if run.group.key in groups]
        return VictimsProtected(held[-1].group.key, held[-1].until, len(held) - 1) if held else None


def _found(
    state: ClusterState, runs: Sequence[ProtectedRun], find_victims: FindVictims
) -> Sequence[PodRecord] | None:
    """The victims if these groups could be preempted now."""
    records = [record for run in runs for record in run.group.members.values()]
    ranks = [(one, own) for one in records if (own := one.unprotected_priority) is not None]
    with state.ranked(ranks):
        return find_victims()


def _first(most: int, suffices: Callable[[int], bool]) -> int | None:
    """The least number from 1 that suffices, if the most does: more always suffice too."""
    if not suffices(most):
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle + 1, high)
    return low


def _is_below(run: ProtectedRun, priority: int) -> bool:
    own = (record.unprotected_priority for record in run.group.members.values())
    return any(one is not None and one < priority for one in own)


def _by_end(run: ProtectedRun) -> tuple[float, GroupKey]:
    return run.until, run.group.key


def _start_of(record: PodRecord) -> float:
    """As its status says, which every scheduler reads; until then, when it was placed."""
    try:
        started = parse_timestamp(record.pod.status.start_time) if record.pod.status.start_time else 0.0
    except TimestampError:
        started = 0.0
    return started or record.placed_at or math.inf
