"""The next step of a rolling update: which replicas may change, and how many exist meanwhile.

The StatefulSet of the leaders replaces those at or above its partition. Updates go from the highest replica
to the lowest; surplus replicas are made at the top, serve while others are away, and go when the last of them
are back.
"""

from collections.abc import Sequence
from typing import NamedTuple


class RolloutLimits(NamedTuple):
    """Replicas and partition of the set, and how many may be unavailable or in surplus."""

    replicas: int
    partition: int
    max_unavailable: int
    max_surge: int

    @property
    def most(self) -> int:
        return self.replicas + self.max_surge


class LeaderSetState(NamedTuple):
    """The StatefulSet of the leaders; `asked` is the replicas of the set when it was last written."""

    replicas: int
    partition: int
    asked: int


class GroupState(NamedTuple):
    is_ready: bool
    is_updated: bool

    @property
    def is_done(self) -> bool:
        return self.is_ready and self.is_updated


class Rollout(NamedTuple):
    partition: int
    replicas: int


def next_rollout(
    limits: RolloutLimits, leaders: LeaderSetState | None, groups: Sequence[GroupState], *, is_changed: bool
) -> Rollout:
    """Return what the StatefulSet of the leaders is to be; `groups` has a state for each of its replicas."""
    partition, replicas = _next(limits, leaders, groups, is_changed=is_changed)
    return Rollout(max(partition, limits.partition), replicas)


def _next(
    limits: RolloutLimits, leaders: LeaderSetState | None, groups: Sequence[GroupState], *, is_changed: bool
) -> Rollout:
    wanted = limits.replicas
    if leaders is None:
        return Rollout(0, wanted)
    if is_changed:
        is_growing = leaders.replicas < wanted
        return Rollout(min(wanted, leaders.replicas), wanted if is_growing else _replicas_for(limits, wanted))
    if leaders.partition == 0 and leaders.replicas == wanted:
        return Rollout(0, wanted)
    if leaders.replicas < wanted:
        return Rollout(leaders.partition, wanted)
    replicas = _replicas_for(limits, sum(1 for group in groups[:wanted] if not group.is_done))
    if leaders.asked != wanted:
        return Rollout(min(leaders.partition, limits.most), replicas)
    return Rollout(_next_partition(limits, leaders, groups), replicas)


def _replicas_for(limits: RolloutLimits, unfinished: int) -> int:
    """Return the replicas with surge; the surge shrinks as fewer replicas are unfinished."""
    if unfinished > limits.max_surge:
        return limits.most
    return limits.replicas + max(0, unfinished - limits.max_unavailable)


def _next_partition(limits: RolloutLimits, leaders: LeaderSetState, groups: Sequence[GroupState]) -> int:
    step = limits.max_unavailable + limits.max_surge - (limits.most - leaders.replicas)
    lowest = max(0, leaders.replicas - _done_from_the_top(groups) - step)
    # What is away already counts as one of those that may be.
    partition = lowest + sum(1 for group in groups[:lowest] if not group.is_ready)
    while partition > lowest and _is_free(groups, partition):
        partition -= 1
    return min(partition, leaders.partition)


def _done_from_the_top(groups: Sequence[GroupState]) -> int:
    count = 0
    for group in reversed(groups):
        if not group.is_done:
            break
        count += 1
    return count


def _is_free(groups: Sequence[GroupState], index: int) -> bool:
    """Whether nothing is lost if this one may be replaced: it is away, or replaced already."""
    return index >= len(groups) or not groups[index].is_ready or groups[index].is_updated
