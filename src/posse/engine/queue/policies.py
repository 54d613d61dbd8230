"""Queue policies: in which order entries of one priority are tried, and for which of them is reserved ahead.

A profile names its policy. Priority comes first under all of them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from posse.engine.queue.backlog import Waiting
from posse.engine.queue.run_times import MAX_STATED_SECONDS, ExpectedRunTime

OVERTAKEN_SECONDS = 48 * 3600.0
"""An entry that has been refused for so long, divided by the nodes that it fills, comes before all others."""
PATIENCE_SECONDS = 3 * 3600.0
"""A group that may start by chance is refused for so long before capacity is reserved for it by run time."""
LARGE_SHARE = 0.05
"""A group that takes more of the cluster hardly starts by chance: its patience shrinks in proportion."""
_GROUP_WEIGHT = 1.5
"""Run times of groups count less the more nodes they fill: by this power of their number."""
_AGED = -1.0


@dataclass(frozen=True, slots=True)
class QueuePolicy:
    name: str
    reservations: int = 1
    """How many entries capacity is reserved for at once."""
    looks_ahead: bool = False
    """Whether a refused entry gets a reservation of nodes and time, by expected run times."""
    is_by_run_time: bool = False
    """Whether entries come first that are expected to keep the least capacity busy, weighted by size."""


PRIORITY_FIFO = QueuePolicy("priority-fifo")
BACKFILL = QueuePolicy("backfill", reservations=4, looks_ahead=True)
SHORTEST_EXPECTED = QueuePolicy("shortest-expected", reservations=2, looks_ahead=True, is_by_run_time=True)
POLICIES: Mapping[str, QueuePolicy] = {
    policy.name: policy for policy in (PRIORITY_FIFO, BACKFILL, SHORTEST_EXPECTED)
}


def rank(policy: QueuePolicy, entry: Waiting, run_time: ExpectedRunTime, now: float) -> float:
    """Entries of one priority are tried by rank, and then by age.

    Up to one node, what keeps the least of it busy comes first: many small jobs together are little work.
    What fills several nodes finds room more seldom, so its run time counts the less the more it fills.
    """
    if not policy.is_by_run_time:
        return 0.0
    if now - entry.refused_since >= OVERTAKEN_SECONDS / max(1.0, entry.nodes):
        return _AGED
    expected = min(run_time.usual, MAX_STATED_SECONDS)
    return expected * (entry.nodes if entry.nodes <= 1.0 else math.pow(entry.nodes, -_GROUP_WEIGHT))


def patience(policy: QueuePolicy, entry: Waiting) -> float:
    """How long an entry is refused before capacity is reserved for it.

    Under a policy that sorts by run time, single pods find room by themselves until they have waited long,
    and so do groups for a while: capacity that is held too early keeps short jobs waiting.
    """
    if not policy.is_by_run_time or entry.rank == _AGED:
        return 0.0
    return PATIENCE_SECONDS * LARGE_SHARE / max(entry.share, LARGE_SHARE) if entry.size > 1 else math.inf


def may_reserve(policy: QueuePolicy, entry: Waiting, now: float) -> bool:
    """Whether nodes and a time are reserved for the refused entry."""
    return policy.looks_ahead and now - entry.refused_since >= patience(policy, entry)
