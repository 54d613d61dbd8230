"""The search for devices: depth-first, in the order that drivers chose, with every choice open to revision.

Claims in order, requests in order, alternatives in order, devices in the order of their pools: the first
complete solution wins. Devices that no request of the search can tell apart are tried once. The number of
steps is limited, and so is the number of devices that it may come to; a search that runs out of either says
so, since it has proven nothing.
"""

from collections.abc import Sequence
from contextlib import suppress

from posse.engine.devices.likeness import DeviceLikeness
from posse.engine.devices.records import DeviceKind, DeviceRecord
from posse.engine.devices.requests import MAX_RESULTS, Alternative
from posse.engine.devices.search_progress import ClaimProgress, TentativeUse, progress_of
from posse.engine.devices.selecting import (
    Allowance,
    Selecting,
    SelectorFailed,
    SelectorsTooCostly,
    new_allowance,
)
from posse.engine.devices.shares import Consumption, consumption
from posse.engine.devices.usage import DevicesInUse
from posse.engine.devices.wants import AllocationError, Grant, SearchCutShort, Solution, Want

MAX_STEPS = 50_000
MAX_DEPTH = 700
"""Calls within calls that the wanted devices may come to; Python allows a thousand in all."""
_GLANCES = 16
"""Devices that are looked at and not taken, in one step."""

_Undo = tuple[DeviceRecord, Consumption | None, bool, int]


class DeviceSearch:
    def __init__(
        self,
        selecting: Selecting,
        in_use: DevicesInUse,
        steps: int = MAX_STEPS,
        allowance: Allowance | None = None,
    ) -> None:
        """The costs of selectors are taken from the allowance."""
        self._selecting = selecting
        self._allowance = allowance or new_allowance()
        self._in_use = in_use
        self._steps: float = steps
        self._use = TentativeUse(in_use)
        self._claims: list[ClaimProgress] = []
        self._most = 0
        """Claims that had devices together at some time."""
        self._taken_of: dict[int, list[bool]] = {}
        """By id of the devices of an offer."""
        self._matching: dict[int, dict[DeviceKind, bool]] = {}
        """By id of what is wanted."""
        self._likeness = DeviceLikeness((), selecting, self._allowance, in_use)

    def run(self, wants: Sequence[Want]) -> Solution | None:
        """Devices for all of these claims; None if there are none.

        Raise AllocationError or SearchCutShort where that is not known.
        """
        self._claims = progress_of(wants)
        self._likeness = DeviceLikeness(wants, self._selecting, self._allowance, self._in_use)
        for want in wants:
            if want.shape.has_too_many:
                raise want.error(f": exceeds the claim limit of {MAX_RESULTS}")
        if sum(want.shape.depth for want in wants) > MAX_DEPTH:
            raise SearchCutShort
        for claim in self._claims:
            if claim.like is None and not self._has_enough(claim.want):
                return None
        if not self._claim(0):
            return None
        return [tuple(claim.grants) for claim in self._claims]

    def most(self, wants: Sequence[Want]) -> int:
        """How many of these claims find devices together: the first, the first two, and so on; none if one of
        them finds too few by itself.

        Raise SearchCutShort where that is not known.
        """
        with suppress(AllocationError):
            self.run(wants)
        return self._most

    @property
    def steps_left(self) -> int:
        return max(0, int(self._steps))

    def _spend(self, steps: float) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise SearchCutShort

    def _has_enough(self, want: Want) -> bool:
        """Whether plain requests find as many devices as they need, each taken by itself."""
        for request in want.shape.requests:
            wanted = request.alternatives[0]
            if len(request.alternatives) > 1 or not wanted.count:
                continue
            found = 0
            for device in want.offer.devices:
                self._steps -= 1 / _GLANCES
                if (wanted.is_admin or self._use.is_free(device)) and self._matches(want, wanted, device):
                    found += 1
                    if found == wanted.count:
                        break
            self._spend(0)
            if found < wanted.count:
                return False
        return True

    def _matches(self, want: Want, wanted: Alternative, device: DeviceRecord) -> bool:
        try:
            return self._selecting.matches(wanted, device.kind, self._allowance)
        except SelectorsTooCostly as costly:
            raise SearchCutShort from costly
        except SelectorFailed as failed:
            selector = failed.selector
            place = f": class {selector.class_name}" if selector.class_name else ""
            problem = f"{place}: selector #{selector.number} on device {device.id}: {failed.reason}"
            raise want.error(problem, wanted.name) from failed

    # One level of the search calls the next

    def _claim(self, number: int) -> bool:
        self._most = max(self._most, number)
        return number == len(self._claims) or self._request(number, 0)

    def _request(self, number: int, index: int) -> bool:
        claim = self._claims[number]
        requests = claim.want.shape.requests
        if index == len(requests):
            return self._claim(number + 1)
        request = requests[index]
        for wanted in request.alternatives:
            if len(claim.grants) + wanted.count > MAX_RESULTS:
                continue
            if wanted.count:
                start = claim.first_position if not index and len(request.alternatives) == 1 else 0
                found = self._pick(number, index, wanted, wanted.count, start)
            else:
                found = self._take_all(number, index, wanted)
            if found:
                return True
        return False

    def _pick(self, number: int, index: int, wanted: Alternative, missing: int, start: int) -> bool:
        if not missing:
            return self._request(number, index + 1)
        claim = self._claims[number]
        devices, held = claim.want.offer.devices, self._use.held
        taken, matching = self._taken(devices), self._matching.setdefault(id(wanted), {})
        tried: dict[tuple[object, ...], None] = {}
        seen = start
        for position in range(start, len(devices)):
            device = devices[position]
            if not wanted.is_admin and (taken[position] or (device in held and not device.kind.is_shareable)):
                continue
            matches = matching.get(device.kind)
            if matches is None:
                matches = matching[device.kind] = self._matches(claim.want, wanted, device)
            if not matches:
                continue
            likeness = self._likeness_of(device), self._use_so_far(claim, device), device.pool
            if likeness in tried:
                continue
            self._steps -= (position + 1 - seen) / _GLANCES
            seen = position + 1
            undo = self._take(claim, index, wanted, position)
            tried[likeness] = None
            if undo is None:
                continue
            if self._pick(number, index, wanted, missing - 1, position + 1):
                return True
            self._give_back(claim, undo)
        self._steps -= (len(devices) - seen) / _GLANCES
        return False

    def _taken(self, devices: tuple[DeviceRecord, ...]) -> list[bool]:
        """By position: whether others have the device and it cannot be shared."""
        known = self._taken_of.get(id(devices))
        if known is None:
            known = self._taken_of[id(devices)] = [not self._use.is_free(device) for device in devices]
        return known

    def _take_all(self, number: int, index: int, wanted: Alternative) -> bool:
        """Every device that matches, or none: one that cannot be had fails the request."""
        claim = self._claims[number]
        offer = claim.want.offer
        if offer.incomplete:
            raise claim.want.error(
                f", request {wanted.name}: asks for all devices, but resource pool "
                f"{'/'.join(offer.incomplete[0])} is currently being updated",
            )
        matching = [
            position
            for position, device in enumerate(offer.devices)
            if self._matches(claim.want, wanted, device) and consumption(device.kind, wanted) is not None
        ]
        if not matching:
            return False
        if len(claim.grants) + len(matching) > MAX_RESULTS:
            if len(claim.want.shape.requests[index].alternatives) > 1:
                return False
            raise claim.want.error(f": exceeds the claim limit of {MAX_RESULTS}")
        undone: list[_Undo] = []
        for position in matching:
            undo = self._take(claim, index, wanted, position)
            if undo is None:
                _require_constraints(claim, index, wanted, offer.devices[position])
                break
            undone.append(undo)
        if len(undone) == len(matching) and self._request(number, index + 1):
            return True
        for undo in reversed(undone):
            self._give_back(claim, undo)
        return False

    def _likeness_of(self, device: DeviceRecord) -> int:
        known = self._likeness.known(device)
        if known is not None:
            return known
        try:
            found = self._likeness.find(device)
        except SelectorsTooCostly as costly:
            raise SearchCutShort from costly
        self._spend(len(self._likeness.alternatives) / _GLANCES)
        return found

    def _use_so_far(self, claim: ClaimProgress, device: DeviceRecord) -> tuple[int, ...]:
        """What the search has taken of the device. An administrator has a device once for each claim."""
        use = self._use.of(device)
        return (*use, -1) if claim.has_admin and claim.has(device) else use

    def _take(self, claim: ClaimProgress, index: int, wanted: Alternative, position: int) -> _Undo | None:
        """Take the device for the request; None if it cannot be had."""
        device = claim.want.offer.devices[position]
        self._spend(1)
        consumed = consumption(device.kind, wanted)
        if consumed is None:
            return None
        if wanted.is_admin:
            can_have = wanted.tolerates(device.taints) and not claim.has(device)
        else:
            can_have = self._use.can_have(claim.want.offer, wanted, device, consumed)
        constrained = claim.constrain(index, wanted, device) if can_have else None
        if constrained is None:
            return None
        share = consumed if device.kind.is_shareable and not wanted.is_admin else None
        if not wanted.is_admin:
            self._use.take(device, share)
        claim.grants.append(Grant(wanted, position, device, share))
        return device, share, wanted.is_admin, constrained

    def _give_back(self, claim: ClaimProgress, undo: _Undo) -> None:
        device, share, is_admin, constrained = undo
        claim.grants.pop()
        claim.forget(constrained)
        if not is_admin:
            self._use.give_back(device, share)


def _require_constraints(claim: ClaimProgress, index: int, wanted: Alternative, device: DeviceRecord) -> None:
    """All devices cannot be had if one of them breaks a constraint, whatever else is chosen."""
    noted = claim.constrain(index, wanted, device)
    if noted is None:
        raise claim.want.error(
            f", request {wanted.name}: asks for all devices, but device "
            f"{device.id} does not satisfy the constraints of the claim",
        )
    claim.forget(noted)
