"""The fewest domains that take a number of pods, and of these the smallest, so that large ones stay whole."""

from bisect import bisect_left

import numpy as np

from posse.engine.nodes.arrays import IntArray


def fewest_domains(free: IntArray, wanted: int) -> list[int]:
    """Indexes of domains that together take `wanted` pods, by the pods that each can take, smallest first.

    No set of fewer domains suffices. Of the sets of this size, it is the first when they are compared by
    their smallest domain, then by the next. Equal domains count in the order given. Without enough capacity
    all domains with any are returned.
    """
    order = np.argsort(free, kind="stable")
    order = order[int(np.searchsorted(free[order], 1)) :]
    sizes: list[int] = free[order].tolist()
    largest = np.concatenate(([0], np.cumsum(free[order][::-1])))
    # How many pods the n largest take, for every n.
    count = int(np.searchsorted(largest, wanted))
    if count > len(sizes):
        return [int(index) for index in order]
    chosen, start = [], 0
    for others in range(count - 1, -1, -1):
        start = bisect_left(sizes, wanted - int(largest[others]), lo=start)
        chosen.append(int(order[start]))
        wanted -= sizes[start]
        start += 1
    return chosen


def fewest_new_domains(free: IntArray, wanted: int, in_use: IntArray) -> list[int]:
    """The same, if some domains are in use already and cost nothing: these come first."""
    used = np.unique(in_use)
    from_used = [int(used[index]) for index in fewest_domains(free[used], wanted)]
    left = wanted - int(free[from_used].sum())
    if left <= 0:
        return from_used
    others = free.copy()
    others[used] = 0
    return [*from_used, *fewest_domains(others, left)]
