"""Which requests of a pod's claims find no devices on some rows, counted once for all rows of equal state."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from posse.engine.causes import ClaimElsewhere, DeviceShortage
from posse.engine.devices.answers import DeviceAnswers
from posse.engine.devices.claims import ClaimBook
from posse.engine.devices.inventory import Inventory
from posse.engine.devices.needs import DeviceNeeds, NamedClaim, OwnClaim
from posse.engine.devices.records import DeviceRecord
from posse.engine.devices.requests import Alternative, ClaimShape, RequestRecord
from posse.engine.devices.selecting import SelectorFailed, SelectorsTooCostly, new_allowance
from posse.engine.devices.usage import DevicesInUse
from posse.engine.devices.wants import AllocationError, Offer, SearchCutShort, Want
from posse.engine.nodes.arrays import BoolArray

_MAX_POOLS = 3
_NOTHING = Offer((), {})
_States = Mapping[int, int]
"""One row for each state that some of the rows have."""


@dataclass(frozen=True, slots=True)
class _Count:
    """Devices of one row for one request."""

    matching: int
    tolerated: int
    free: int

    def meets(self, wanted: Alternative) -> bool:
        return self.free >= wanted.count if wanted.count else 0 < self.matching == self.free


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """One request of one claim."""

    claim: OwnClaim | NamedClaim
    shape: ClaimShape
    request: RequestRecord


@dataclass(slots=True, eq=False)
class _Found:
    """What was found by state of a row, while the stamp is the same."""

    stamp: tuple[int, int]
    counts: dict[Alternative, dict[int, _Count]] = field(default_factory=dict)
    is_met: dict[tuple[ClaimShape, str, int], bool] = field(default_factory=dict)


class Shortages:
    def __init__(
        self, inventory: Inventory, book: ClaimBook, in_use: DevicesInUse, answers: DeviceAnswers
    ) -> None:
        self._inventory = inventory
        self._book = book
        self._in_use = in_use
        self._answers = answers
        self._found = _Found((-1, -1))
        self._allowance = new_allowance()

    def find(self, needs: DeviceNeeds, refused: BoolArray) -> tuple[DeviceShortage | ClaimElsewhere, ...]:
        """Why these rows refuse a pod with these needs, which name no extended resources."""
        stamp = self._inventory.version, self._inventory.span_version
        if self._found.stamp != stamp:
            self._found = _Found(stamp)
        self._allowance = new_allowance()
        elsewhere = refused & ~self._answers.claims.reachable(needs)
        short = refused & ~elsewhere & ~self._answers.in_doubt(needs)
        return (
            *(self._elsewhere(needs, elsewhere) if elsewhere.any() else ()),
            *(self._short(needs, short) if short.any() else ()),
        )

    def _elsewhere(self, needs: DeviceNeeds, rows: BoolArray) -> Iterator[ClaimElsewhere]:
        for claim in needs.claims:
            if isinstance(claim, NamedClaim) and (rows & ~self._answers.claims.reaches(claim)).any():
                record = self._book.claims.get(claim.key)
                asked = record.claim.spec.devices.requests if record is not None else ()
                yield ClaimElsewhere(str(claim.key), tuple(one.name for one in asked))

    def _short(self, needs: DeviceNeeds, rows: BoolArray) -> list[DeviceShortage]:
        """Requests that lack devices by themselves; all of them, if only all together lack some."""
        asked, states = list(self._asked(needs)), self._states(rows)
        short = asked
        if len(asked) > 1:
            few = [one for one in asked if not self._has_enough(one, states)]
            short = few or [one for one in asked if not self._is_met(one, states)]
        is_met_alone, pools = not short, self._inventory.unusable_pools_at(rows, _MAX_POOLS)
        return [
            self._shortage(one.claim, wanted, states, pools, is_met_alone)
            for one in short or asked
            for wanted in one.request.alternatives
        ]

    def _asked(self, needs: DeviceNeeds) -> Iterator[_Asked]:
        for claim in needs.claims:
            if self._answers.claims.is_waiting(claim):
                shape = self._answers.claims.want(claim, _NOTHING).shape
                yield from (_Asked(claim, shape, request) for request in shape.requests)

    def _states(self, rows: BoolArray) -> _States:
        numbers = np.flatnonzero(rows)
        states, first = np.unique(self._inventory.row_states()[numbers], return_index=True)
        return dict(zip(states.tolist(), numbers[first].tolist(), strict=True))

    def _shortage(
        self,
        claim: OwnClaim | NamedClaim,
        wanted: Alternative,
        states: _States,
        pools: tuple[str, ...],
        is_met_alone: bool,
    ) -> DeviceShortage:
        counts = [self._count(wanted, state, row) for state, row in states.items()]
        return DeviceShortage(
            claim=claim.entry if isinstance(claim, OwnClaim) else str(claim.key),
            position=claim.position if isinstance(claim, OwnClaim) else -1,
            request=wanted.name,
            class_name=wanted.class_name,
            wanted=wanted.count,
            matching=max(one.matching for one in counts),
            tolerated=max(one.tolerated for one in counts),
            free=max(one.free for one in counts),
            is_met_alone=is_met_alone,
            unusable_pools=pools,
        )

    def _has_enough(self, asked: _Asked, states: _States) -> bool:
        return any(
            self._count(wanted, state, row).meets(wanted)
            for wanted in asked.request.alternatives
            for state, row in states.items()
        )

    def _is_met(self, asked: _Asked, states: _States) -> bool:
        """Whether a search for this request alone finds devices: counters, capacity and attributes count."""
        known = self._found.is_met
        for state, row in states.items():
            key = asked.shape, asked.request.name, state
            if key not in known:
                known[key] = self._is_met_at(asked, row)
            if known[key]:
                return True
        return False

    def _is_met_at(self, asked: _Asked, row: int) -> bool:
        alone = replace(asked.shape, requests=(asked.request,))
        want = Want("", alone, self._inventory.offer_at(row))
        try:
            return self._answers.searches.found([want], self._allowance) is not None
        except (AllocationError, SearchCutShort):
            return True

    def _count(self, wanted: Alternative, state: int, row: int) -> _Count:
        known = self._found.counts.setdefault(wanted, {})
        if state not in known:
            known[state] = self._counted(wanted, row)
        return known[state]

    def _counted(self, wanted: Alternative, row: int) -> _Count:
        matching = tolerated = free = 0
        for device in self._inventory.devices_at(row):
            if self._matches(wanted, device):
                matching += 1
                if wanted.tolerates(device.taints):
                    tolerated += 1
                    free += wanted.is_admin or device.kind.is_shareable or device.id not in self._in_use
        return _Count(matching, tolerated, free)

    def _matches(self, wanted: Alternative, device: DeviceRecord) -> bool:
        """A selector that fails on a device is an error that the pod is told before it comes here.

        One that is too costly by now matches for all we know.
        """
        try:
            return self._answers.searches.selecting.matches(wanted, device.kind, self._allowance)
        except SelectorFailed:
            return False
        except SelectorsTooCostly:
            return True
