"""Prefer nodes where the volumes that the pod's unbound claims would get have most room to spare.

Counted per storage class, whatever the number of its claims. Volumes that have yet to be made do not count.
"""

from collections.abc import Iterable

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.storage.claims import VolumeNeeds
from posse.engine.storage.matching import NOT_CHOSEN, Choice, Choices
from posse.engine.storage.storage import Storage

_FULL_MARKS = 100


class VolumePreference:
    name = "VolumeBinding"

    def __init__(self, weight: int = 1) -> None:
        self.weight = weight

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "RoomScore | None":
        needs = scheduling_class.pod_class.volumes
        return RoomScore(needs, context.storage) if needs is not None and needs.claims else None


class RoomScore:
    def __init__(self, needs: VolumeNeeds, storage: Storage) -> None:
        self._needs = needs
        self._storage = storage

    def points(self, feasible: BoolArray) -> IntArray:
        choices = self._storage.choices(self._needs)
        total, counted = (np.zeros(feasible.size, dtype=np.int64) for _ in range(2))
        if not choices.volumes:
            return total
        for together in _by_class(choices.choices):
            wanted, offered, served = _amounts(choices, together)
            spare = _FULL_MARKS - wanted * _FULL_MARKS // np.maximum(offered, 1)
            total += np.where(np.greater(offered, 0), np.maximum(spare, 0), 0)
            counted += served
        # The average, with halves rounded up.
        return (2 * total + counted) // np.maximum(2 * counted, 1)


def _by_class(choices: Iterable[Choice]) -> Iterable[list[Choice]]:
    classes: dict[str, list[Choice]] = {}
    for choice in choices:
        classes.setdefault(choice.claim.storage_class, []).append(choice)
    return classes.values()


def _amounts(choices: Choices, together: Iterable[Choice]) -> tuple[IntArray, IntArray, BoolArray]:
    """What claims of one class ask for and get, as far as they get a volume, and where any of them does."""
    capacities = np.array([volume.capacity for volume in choices.volumes], dtype=np.int64)
    wanted, offered = (np.zeros(choices.satisfied.size, dtype=np.int64) for _ in range(2))
    served = np.zeros(choices.satisfied.size, dtype=np.bool_)
    for choice in together:
        has_volume = np.not_equal(choice.chosen, NOT_CHOSEN)
        served |= has_volume
        wanted += np.where(has_volume, choice.claim.size, 0)
        offered += np.where(has_volume, capacities[choice.chosen], 0)
    return wanted, offered, served
