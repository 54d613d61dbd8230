"""Capacity that is reserved in a rollout for the first unit that does not fit."""

import numpy as np

from posse.solver.rollout_capacity import Amounts


class RolloutReservation:
    def __init__(
        self, place: int, begins: float, shape: tuple[int, ...], needed: Amounts, coming: Amounts
    ) -> None:
        """From `begins` on it needs so much, of which so much is coming: it ends before."""
        self.place = place
        self.begins = begins
        self._lacking = np.zeros(shape, dtype=np.int64)
        self._needed = np.zeros(shape, dtype=np.int64)
        np.add.at(self._needed, tuple(needed[:2]), needed[2])
        np.add.at(self._lacking, tuple(needed[:2]), needed[2])
        np.subtract.at(self._lacking, tuple(coming[:2]), coming[2])

    def has_come(self, amounts: Amounts, moment: float) -> None:
        """What has ended is free, and must be held from now on."""
        if moment <= self.begins:
            np.add.at(self._lacking, tuple(amounts[:2]), amounts[2])

    def held(self) -> Amounts:
        """What must be held now, because nothing that ends before will free it."""
        resources, rows = np.nonzero(self._lacking > 0)
        amounts = np.minimum(self._lacking, self._needed)[resources, rows]
        return np.array([resources, rows, amounts])
