"""How many pods the new and the old ReplicaSets of a Deployment are to have next. Numbers only."""

from collections.abc import Sequence
from typing import NamedTuple

from posse.model.deployment import RECREATE, DeploymentSpec
from posse.model.shares import part_of


class SetSize(NamedTuple):
    """The pods of a ReplicaSet: wanted, there, terminating, and available."""

    wanted: int
    present: int = 0
    terminating: int = 0
    available: int = 0


class Limits(NamedTuple):
    wanted: int
    highest: int
    """How many pods there may be at once."""
    lowest: int
    """How many must be available."""


def limits_of(spec: DeploymentSpec) -> Limits:
    rolling = spec.strategy.rolling_update
    if spec.strategy.type == RECREATE or rolling is None:
        return Limits(spec.wanted, spec.wanted, 0)
    surge = part_of(rolling.max_surge or 0, spec.wanted, rounded_up=True)
    unavailable = part_of(rolling.max_unavailable or 0, spec.wanted, rounded_up=False)
    if not surge and not unavailable:
        unavailable = 1
    return Limits(spec.wanted, spec.wanted + surge, max(0, spec.wanted - unavailable))


def recreated(limits: Limits, old: Sequence[SetSize], new: SetSize) -> tuple[int, list[int]]:
    """Return the next sizes where all old pods end before the first new one starts."""
    is_over = not any(each.wanted or each.present or each.terminating for each in old)
    return (limits.wanted if is_over else min(new.wanted, limits.wanted)), [0] * len(old)


def rolled(limits: Limits, old: Sequence[SetSize], new: SetSize) -> tuple[int, list[int]]:
    """Return the next sizes, old sets from the oldest; either the new one grows or the old ones shrink."""
    sizes, total = [each.wanted for each in old], new.wanted + sum(each.wanted for each in old)
    if new.wanted > limits.wanted:
        return limits.wanted, sizes
    grown = min(limits.wanted, new.wanted + max(0, limits.highest - total))
    if grown != new.wanted:
        return grown, sizes
    return new.wanted, _shrunk(limits, old, new)


def _shrunk(limits: Limits, old: Sequence[SetSize], new: SetSize) -> list[int]:
    sizes = [each.wanted for each in old]
    spare = new.wanted + sum(sizes) - limits.lowest - (new.wanted - new.available)
    if spare <= 0:
        return sizes
    for index, each in enumerate(old):
        # Pods that are not available cost nothing.
        gone = min(spare, max(0, each.wanted - each.available))
        sizes[index] -= gone
        spare -= gone
    left = min(spare, new.available + sum(each.available for each in old) - limits.lowest)
    for index, size in enumerate(sizes):
        gone = max(0, min(left, size))
        sizes[index] -= gone
        left -= gone
    return sizes
