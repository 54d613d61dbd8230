"""Queue policies: in which order entries of one priority are tried, and for which capacity is reserved ahead.

A profile names its policy. Priority comes first under all of them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from posse.engine.groups.annotations import MAX_STATED_SECONDS
from posse.engine.queue.backlog import Waiting
from posse.engine.queue.run_times import ExpectedRunTime

OVERTAKEN_SECONDS = 48 * 3600.0
"""An entry that was refused for so long comes before all others; sooner if it takes much of the cluster."""
LARGE_SHARE = 0.04
"""Entries that take more of the cluster hardly start by chance: they age by the square of the excess."""
RESERVED_SHARE = 0.02
"""Groups that take less of the cluster find room by themselves, until they have waited long."""
WIDE_SHARE = 0.25
"""For entries that take more of the cluster, and have waited long, more is held than the nodes they need."""
_AGED = -1.0


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    name: str
    reservations: int = 1
    """How many entries capacity is reserved for at once."""
    looks_ahead: bool = False
    """Whether a refused entry gets a reservation of nodes and time, by expected run times."""
    is_by_run_time: bool = False
    """Whether entries come first that are expected to keep the least capacity busy."""


PRIORITY_FIFO = QueuePolicy("priority-fifo")
BACKFILL = QueuePolicy("backfill", reservations=4, looks_ahead=True)
SHORTEST_EXPECTED = QueuePolicy("shortest-expected", reservations=2, looks_ahead=True, is_by_run_time=True)
POLICIES: Mapping[str, QueuePolicy] = {
    policy.name: policy for policy in (PRIORITY_FIFO, BACKFILL, SHORTEST_EXPECTED)
}


def rank(policy: QueuePolicy, entry: Waiting, run_time: ExpectedRunTime, now: float) -> float:
    """Entries of one priority are tried by rank, and then by age.

    What keeps the fewest nodes busy for the shortest time comes first: many small jobs are little work.
    """
    if not policy.is_by_run_time:
        return 0.0
    if has_aged(entry, now):
        return _AGED
    return min(run_time.usual, MAX_STATED_SECONDS) * entry.nodes


def has_aged(entry: Waiting, now: float) -> bool:
    """Whether it has been overtaken for long enough."""
    return now - entry.refused_since >= overtaken_seconds(entry)


def overtaken_seconds(entry: Waiting) -> float:
    """For how long it may be overtaken after it was refused."""
    part = min(1.0, LARGE_SHARE / entry.share) if entry.share > 0.0 else 1.0
    return OVERTAKEN_SECONDS * part * part


def may_reserve(policy: QueuePolicy, entry: Waiting) -> bool:
    """Whether nodes and a time may be reserved for the refused entry."""
    if not policy.looks_ahead or entry.refused_since == math.inf:
        return False
    return reserves_for(policy, entry) or entry.rank == _AGED


def reserves_for(policy: QueuePolicy, entry: Waiting) -> bool:
    """Whether capacity is reserved for an entry that has not aged yet.

    Under a policy that sorts by run time, single pods and small groups find room by themselves.
    """
    if not policy.is_by_run_time:
        return policy.looks_ahead
    return entry.size > 1 and entry.share >= RESERVED_SHARE


def holds_widely(policy: QueuePolicy, entry: Waiting) -> bool:
    """Whether capacity is held for the entry on all nodes that it could start on."""
    return policy.is_by_run_time and entry.rank == _AGED and entry.share > WIDE_SHARE


def idle_seconds(policy: QueuePolicy, entry: Waiting, now: float) -> float:
    """For how long all that the entry needs may stand idle until it starts; half of it for twice as long.

    Capacity that is held keeps others waiting. So it is held for no longer than the entry itself has waited,
    times its share of the cluster: the smaller that is, the more likely it starts by chance.
    """
    if not policy.is_by_run_time or entry.rank == _AGED:
        return math.inf
    return entry.share * max(0.0, now - entry.refused_since)
