"""Whether a group of different pods fits at all, by going through every way to place it. For small clusters only."""

from collections.abc import Sequence
from functools import cache

Amounts = tuple[int, ...]


def most_that_fit(free: Sequence[Amounts], pods: Sequence[Amounts]) -> int:
    """Return the largest number of the pods that can be on the nodes together."""
    wanted = tuple(sorted(pods, reverse=True))

    @cache
    def best(index: int, left: tuple[Amounts, ...]) -> int:
        if index == len(wanted):
            return 0
        most = best(index + 1, left)
        for position, offered in enumerate(left):
            if left.index(offered) == position and all(
                o >= w for o, w in zip(offered, wanted[index], strict=True)
            ):
                rest = tuple(o - w for o, w in zip(offered, wanted[index], strict=True))
                after = tuple(sorted((*left[:position], rest, *left[position + 1 :])))
                most = max(most, 1 + best(index + 1, after))
            if most == len(wanted) - index:
                break
        return most

    return best(0, tuple(sorted(free)))
