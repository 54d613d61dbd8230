"""The search for devices: depth-first, in the order that drivers chose, with every choice open to revision.

Claims in order, requests in order, alternatives in order, devices in the order of their pools: the first
complete solution wins. Devices that no request of the search can tell apart are tried once. The number of
steps is limited, and so is the number of devices that it may come to; a search that runs out of either says
so, since it has proven nothing.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from posse.engine.devices.pools import Counters, PoolKey
from posse.engine.devices.records import AttributeValue, DeviceKind, DeviceRecord
from posse.engine.devices.requests import MAX_RESULTS, Alternative, ClaimShape
from posse.engine.devices.selecting import (
    Allowance,
    Selecting,
    SelectorFailed,
    SelectorsTooCostly,
    new_allowance,
)
from posse.engine.devices.shares import Consumption, consumption
from posse.engine.devices.usage import DevicesInUse

MAX_STEPS = 50_000
MAX_DEPTH = 700
"""Calls within calls that the wanted devices may come to; Python allows a thousand in all."""
_GLANCES = 16
"""Devices that are looked at and not taken, in one step."""


@dataclass(frozen=True, slots=True)
class AllocationFault:
    """Why a claim cannot be decided on."""

    claim: str
    """Its name in messages, unless those of a pod are given."""
    problem: str
    """What follows the name of the claim."""
    request: str = ""
    """The request at fault, where the problem does not name it."""
    position: int = -1
    """As in `Want`."""

    def text(self, names: Sequence[str] = ()) -> str:
        """`names`: of all claims of a pod."""
        asked = f"request {self.request}: " if self.request else ""
        claim = names[self.position] if names and self.position >= 0 else self.claim
        return f"{asked}claim {claim}{self.problem}"


class AllocationError(Exception):
    """The claim cannot be decided on; waiting does not help, and other nodes are not tried."""

    def __init__(self, claim: str, problem: str, request: str = "", position: int = -1) -> None:
        self.fault = AllocationFault(claim, problem, request, position)
        super().__init__(self.fault.text())


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """The devices that a node, or several nodes together, can reach."""

    devices: tuple[DeviceRecord, ...]
    counters: Mapping[PoolKey, Counters]
    """Of the pools that have any: what is left of them."""
    incomplete: tuple[PoolKey, ...] = ()
    invalid: tuple[PoolKey, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Want:
    """One claim without devices, and where its devices may come from."""

    claim: str
    """Its name in messages."""
    shape: ClaimShape
    offer: Offer
    position: int = -1
    """Of a pod's own claim among all its claims: pods of one class have one each."""

    def error(self, problem: str, request: str = "") -> AllocationError:
        return AllocationError(self.claim, problem, request, self.position)


class Grant(msgspec.Struct, frozen=True, gc=False, eq=False):
    """One device for one request."""

    wanted: Alternative
    position: int
    """Index of the device in the offer."""
    device: DeviceRecord
    consumed: Consumption | None
    """Set for a share of the device."""

    def at(self, device: DeviceRecord) -> "Grant":
        """The same with the device that another node has in this position."""
        return self if device is self.device else Grant(self.wanted, self.position, device, self.consumed)


Solution = list[tuple[Grant, ...]]


class SearchCutShort(Exception):  # noqa: N818 - the search ended, the claim is not at fault
    """The steps did not suffice."""


_Undo = tuple[DeviceRecord, Consumption | None, bool, int]


@dataclass(slots=True, eq=False)
class _ClaimState:
    want: Want
    has_admin: bool
    like: "_ClaimState | None"
    """The last claim before it that asks for the same of the same devices."""
    grants: list[Grant] = field(default_factory=list)
    values: list[list[AttributeValue]] = field(default_factory=list)
    """By constraint: the values of the devices so far."""


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
        self._held: dict[DeviceRecord, int] = {}
        """Devices taken by the search, with the number of times."""
        self._consumed: dict[tuple[DeviceRecord, str], int] = {}
        self._counted: dict[tuple[PoolKey, str, str], int] = {}
        self._claims: list[_ClaimState] = []
        self._most = 0
        """Claims that had devices together at some time."""
        self._taken_of: dict[int, list[bool]] = {}
        """By id of the devices of an offer."""
        self._matching: dict[int, dict[DeviceKind, bool]] = {}
        """By id of what is wanted."""
        self._likeness: dict[DeviceRecord, int] = {}
        self._projections: dict[object, int] = {}
        self._attributes: tuple[str, ...] = ()
        self._alternatives: tuple[Alternative, ...] = ()

    def run(self, wants: Sequence[Want]) -> Solution | None:
        """Devices for all of these claims; None if there are none.

        Raise AllocationError or SearchCutShort where that is not known.
        """
        self._claims = _claim_states(wants)
        self._attributes = tuple(
            dict.fromkeys(one.attribute for want in wants for one in want.shape.constraints)
        )
        self._alternatives = tuple(dict.fromkeys(one for want in wants for one in want.shape.alternatives))
        for want in wants:
            if want.shape.has_too_many:
                raise want.error(f": exceeds the claim limit of {MAX_RESULTS}")
        if sum(want.shape.depth for want in wants) > MAX_DEPTH:
            raise SearchCutShort
        for state in self._claims:
            if state.like is None and not self._has_enough(state.want):
                return None
        if not self._claim(0):
            return None
        return [tuple(state.grants) for state in self._claims]

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
                if (wanted.is_admin or self._is_free(device)) and self._matches(want, wanted, device):
                    found += 1
                    if found == wanted.count:
                        break
            self._spend(0)
            if found < wanted.count:
                return False
        return True

    def _is_free(self, device: DeviceRecord) -> bool:
        return device.kind.is_shareable or device.id not in self._in_use

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

    def _claim(self, number: int) -> bool:
        self._most = max(self._most, number)
        return number == len(self._claims) or self._request(number, 0)

    def _request(self, number: int, index: int) -> bool:
        state = self._claims[number]
        requests = state.want.shape.requests
        if index == len(requests):
            return self._claim(number + 1)
        request = requests[index]
        for wanted in request.alternatives:
            if len(state.grants) + wanted.count > MAX_RESULTS:
                continue
            if wanted.count:
                start = _first_position(state) if not index and len(request.alternatives) == 1 else 0
                found = self._pick(number, index, wanted, wanted.count, start)
            else:
                found = self._take_all(number, index, wanted)
            if found:
                return True
        return False

    def _pick(self, number: int, index: int, wanted: Alternative, missing: int, start: int) -> bool:
        if not missing:
            return self._request(number, index + 1)
        state = self._claims[number]
        devices, held = state.want.offer.devices, self._held
        taken, matching = self._taken(devices), self._matching.setdefault(id(wanted), {})
        tried: dict[tuple[object, ...], None] = {}
        seen = start
        for position in range(start, len(devices)):
            device = devices[position]
            if not wanted.is_admin and (taken[position] or (device in held and not device.kind.is_shareable)):
                continue
            matches = matching.get(device.kind)
            if matches is None:
                matches = matching[device.kind] = self._matches(state.want, wanted, device)
            if not matches:
                continue
            likeness = self._likeness_of(device), self._use_so_far(state, device), device.pool
            if likeness in tried:
                continue
            self._steps -= (position + 1 - seen) / _GLANCES
            seen = position + 1
            undo = self._take(state, index, wanted, position)
            tried[likeness] = None
            if undo is None:
                continue
            if self._pick(number, index, wanted, missing - 1, position + 1):
                return True
            self._give_back(state, undo)
        self._steps -= (len(devices) - seen) / _GLANCES
        return False

    def _use_so_far(self, state: _ClaimState, device: DeviceRecord) -> tuple[int, ...]:
        """What the search itself has taken of the device: how many times, and how much of each capacity.

        An administrator has a device once for each claim.
        """
        times = self._held.get(device, 0)
        is_granted = state.has_admin and any(one.device is device for one in state.grants)
        if not times and not is_granted:
            return ()
        amounts = (self._consumed.get((device, name), 0) for name in device.kind.capacity)
        return is_granted, times, *amounts

    def _taken(self, devices: tuple[DeviceRecord, ...]) -> list[bool]:
        """By position: whether others have the device and it cannot be shared."""
        known = self._taken_of.get(id(devices))
        if known is None:
            known = self._taken_of[id(devices)] = [not self._is_free(device) for device in devices]
        return known

    def _take_all(self, number: int, index: int, wanted: Alternative) -> bool:
        """Every device that matches, or none: one that cannot be had fails the request."""
        state = self._claims[number]
        offer = state.want.offer
        if offer.incomplete:
            raise state.want.error(
                f", request {wanted.name}: asks for all devices, but resource pool "
                f"{'/'.join(offer.incomplete[0])} is currently being updated",
            )
        matching = [
            position
            for position, device in enumerate(offer.devices)
            if self._matches(state.want, wanted, device) and consumption(device.kind, wanted) is not None
        ]
        if not matching:
            return False
        if len(state.grants) + len(matching) > MAX_RESULTS:
            if len(state.want.shape.requests[index].alternatives) > 1:
                return False
            raise state.want.error(f": exceeds the claim limit of {MAX_RESULTS}")
        undone: list[_Undo] = []
        for position in matching:
            undo = self._take(state, index, wanted, position)
            if undo is None:
                self._require_constraints(state, index, wanted, offer.devices[position])
                break
            undone.append(undo)
        if len(undone) == len(matching) and self._request(number, index + 1):
            return True
        for undo in reversed(undone):
            self._give_back(state, undo)
        return False

    def _require_constraints(
        self, state: _ClaimState, index: int, wanted: Alternative, device: DeviceRecord
    ) -> None:
        """All devices cannot be had if one of them breaks a constraint, whatever else is chosen."""
        noted = self._constrain(state, index, wanted, device)
        if noted is None:
            raise state.want.error(
                f", request {wanted.name}: asks for all devices, but device "
                f"{device.id} does not satisfy the constraints of the claim",
            )
        self._forget(state, noted)

    def _likeness_of(self, device: DeviceRecord) -> int:
        """Equal for devices that no claim of this search tells apart."""
        known = self._likeness.get(device)
        if known is None:
            kind = device.kind
            try:
                selected = tuple(
                    (
                        self._selecting.projection(one, kind, self._allowance),
                        one.tolerates(device.taints),
                    )
                    for one in self._alternatives
                )
            except SelectorsTooCostly as costly:
                raise SearchCutShort from costly
            self._spend(len(self._alternatives) / _GLANCES)
            features = (
                selected,
                tuple(kind.attributes.get(name) for name in self._attributes),
                tuple(kind.capacity.items()) if kind.is_shareable or self._reads_capacity else (),
                kind.is_shareable,
                device.consumes,
                (device.node_name, device.selector, device.binds_to_node),
                (device.binding_conditions, device.failure_conditions),
                tuple(sorted(self._in_use[device.id].consumed.items())) if kind.is_shareable else (),
                device.id in self._in_use,
            )
            known = self._likeness[device] = self._projections.setdefault(features, len(self._projections))
        return known

    @property
    def _reads_capacity(self) -> bool:
        return any(one.capacity for one in self._alternatives)

    # --- taking devices ----------------------------------------------------------------------------------

    def _is_open(self, device: DeviceRecord) -> bool:
        if device.kind.is_shareable:
            return True
        return device not in self._held and device.id not in self._in_use

    def _take(self, state: _ClaimState, index: int, wanted: Alternative, position: int) -> _Undo | None:
        """Take the device for the request; None if it cannot be had."""
        device = state.want.offer.devices[position]
        self._spend(1)
        consumed = consumption(device.kind, wanted)
        if consumed is None or not (wanted.is_admin or self._can_have(state, wanted, device, consumed)):
            return None
        if wanted.is_admin and (
            not wanted.tolerates(device.taints) or any(one.device is device for one in state.grants)
        ):
            return None
        constrained = self._constrain(state, index, wanted, device)
        if constrained is None:
            return None
        share = consumed if device.kind.is_shareable and not wanted.is_admin else None
        if not wanted.is_admin:
            self._hold(device, share, 1)
        state.grants.append(Grant(wanted, position, device, share))
        return device, share, wanted.is_admin, constrained

    def _can_have(
        self, state: _ClaimState, wanted: Alternative, device: DeviceRecord, consumed: Consumption
    ) -> bool:
        if not wanted.tolerates(device.taints) or not self._is_open(device):
            return False
        if device.kind.is_shareable:
            used = self._in_use[device.id].consumed
            for name, amount in consumed.items():
                taken = used.get(name, 0) + self._consumed.get((device, name), 0)
                if taken + amount > device.kind.capacity[name].value:
                    return False
        return self._has_counters(state.want.offer, device)

    def _has_counters(self, offer: Offer, device: DeviceRecord) -> bool:
        """The counters of a shared device are charged once, with its first share."""
        if not device.consumes or device in self._held or device.id in self._in_use:
            return True
        left = offer.counters[device.pool]
        return all(
            left[counter_set, name] - self._counted.get((device.pool, counter_set, name), 0) >= amount
            for counter_set, name, amount in device.consumes
        )

    def _hold(self, device: DeviceRecord, share: Consumption | None, sign: int) -> None:
        held = self._held.get(device, 0)
        if device.consumes and device.id not in self._in_use and held == (0 if sign > 0 else 1):
            for counter_set, name, amount in device.consumes:
                key = device.pool, counter_set, name
                self._counted[key] = self._counted.get(key, 0) + sign * amount
        for name, amount in (share or {}).items():
            self._consumed[device, name] = self._consumed.get((device, name), 0) + sign * amount
        if held + sign:
            self._held[device] = held + sign
        else:
            del self._held[device]

    def _constrain(
        self, state: _ClaimState, index: int, wanted: Alternative, device: DeviceRecord
    ) -> int | None:
        """Note the device in all constraints that cover it; None if it breaks one, else a bit for each."""
        request, noted = state.want.shape.requests[index].name, 0
        for bit, constraint in enumerate(state.want.shape.constraints):
            if not constraint.covers(request, wanted.name):
                continue
            value, values = device.kind.attributes.get(constraint.attribute), state.values[bit]
            breaks = value is None or (
                value in values if constraint.is_distinct else bool(values) and values[0] != value
            )
            if breaks or value is None:
                self._forget(state, noted)
                return None
            values.append(value)
            noted |= 1 << bit
        return noted

    def _forget(self, state: _ClaimState, noted: int) -> None:
        for bit, values in enumerate(state.values):
            if noted >> bit & 1:
                values.pop()

    def _give_back(self, state: _ClaimState, undo: _Undo) -> None:
        device, share, is_admin, constrained = undo
        state.grants.pop()
        self._forget(state, constrained)
        if not is_admin:
            self._hold(device, share, -1)


def _claim_states(wants: Sequence[Want]) -> list[_ClaimState]:
    states: list[_ClaimState] = []
    last: dict[tuple[int, int], _ClaimState] = {}
    for want in wants:
        key = id(want.shape), id(want.offer.devices)
        has_admin = any(one.is_admin for one in want.shape.alternatives)
        state = _ClaimState(want, has_admin, last.get(key), [], [[] for _ in want.shape.constraints])
        states.append(state)
        last[key] = state
    return states


def _first_position(state: _ClaimState) -> int:
    """Where the claim's first device may be at the earliest.

    Claims that ask for the same can change places, so the first solution has their first devices in order.
    """
    return state.like.grants[0].position if state.like is not None else 0
