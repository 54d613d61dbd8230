"""How far a search has come with one claim: its devices so far, and the values that constraints compare."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from posse.engine.devices.records import AttributeValue, DeviceRecord
from posse.engine.devices.requests import Alternative
from posse.engine.devices.wants import Grant, Want


@dataclass(slots=True, eq=False)
class ClaimProgress:
    want: Want
    has_admin: bool
    like: "ClaimProgress | None"
    """The last claim before it that asks for the same of the same devices."""
    grants: list[Grant] = field(default_factory=list)
    values: list[list[AttributeValue]] = field(default_factory=list)
    """By constraint: the values of the devices so far."""

    @property
    def first_position(self) -> int:
        """Where the claim's first device may be at the earliest.

        Claims that ask for the same can change places, so the first solution has their first devices in
        order.
        """
        return self.like.grants[0].position if self.like is not None else 0

    def has(self, device: DeviceRecord) -> bool:
        return any(one.device is device for one in self.grants)

    def constrain(self, index: int, wanted: Alternative, device: DeviceRecord) -> int | None:
        """Note the device in all constraints that cover it; None if it breaks one, else a bit for each."""
        request, noted = self.want.shape.requests[index].name, 0
        for bit, constraint in enumerate(self.want.shape.constraints):
            if not constraint.covers(request, wanted.name):
                continue
            value, values = device.kind.attributes.get(constraint.attribute), self.values[bit]
            breaks = value is None or (
                value in values if constraint.is_distinct else bool(values) and values[0] != value
            )
            if breaks or value is None:
                self.forget(noted)
                return None
            values.append(value)
            noted |= 1 << bit
        return noted

    def forget(self, noted: int) -> None:
        """Undo what `constrain` noted last."""
        for bit, values in enumerate(self.values):
            if noted >> bit & 1:
                values.pop()


def progress_of(wants: Sequence[Want]) -> list[ClaimProgress]:
    claims: list[ClaimProgress] = []
    last: dict[tuple[int, int], ClaimProgress] = {}
    for want in wants:
        key = id(want.shape), id(want.offer.devices)
        has_admin = any(one.is_admin for one in want.shape.alternatives)
        claim = ClaimProgress(want, has_admin, last.get(key), [], [[] for _ in want.shape.constraints])
        claims.append(claim)
        last[key] = claim
    return claims
