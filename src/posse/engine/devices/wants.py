"""What a search for devices is asked, and what it answers: claims without devices, what is on offer, devices
granted, and why there are none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from posse.engine.devices.pools import Counters, PoolKey
from posse.engine.devices.records import DeviceRecord
from posse.engine.devices.requests import Alternative, ClaimShape
from posse.engine.devices.shares import Consumption


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
