"""Claims in comparable form: requests with their alternatives, selectors, constraints and tolerations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from posse.model.device import DeviceTaint
from posse.model.quantity import nano_value
from posse.model.resource_claim import (
    ALL,
    EXISTS,
    DeviceClass,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaimSpec,
)

MAX_RESULTS = 32


@dataclass(frozen=True, slots=True)
class SelectorText:
    """One selector, with what is needed to name it."""

    expression: str
    number: int
    class_name: str = ""
    """The class that it belongs to; empty for a selector of the claim."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """What one request, or one alternative of it, asks for."""

    name: str
    """`request`, or `request/alternative`."""
    class_name: str
    selectors: tuple[SelectorText, ...]
    """Of the class, then its own."""
    count: int
    """How many devices; 0 for all that match."""
    is_admin: bool
    tolerations: tuple[DeviceToleration, ...]
    capacity: tuple[tuple[str, int], ...]
    """Requested amounts by capacity."""

    def tolerates(self, taints: Sequence[DeviceTaint]) -> bool:
        return all(any(_tolerates(one, taint) for one in self.tolerations) for taint in taints)


@dataclass(frozen=True, slots=True)
class RequestRecord:
    name: str
    alternatives: tuple[Alternative, ...]
    is_list: bool
    """Whether the alternatives were listed in an order of preference."""

    @property
    def fewest(self) -> int:
        """The least number of devices it may come to; 0 where that depends on the node."""
        return min(one.count for one in self.alternatives)


@dataclass(frozen=True, slots=True)
class AttributeConstraint:
    requests: tuple[str, ...]
    """Empty for all."""
    attribute: str
    is_distinct: bool

    def covers(self, request: str, alternative: str) -> bool:
        return not self.requests or request in self.requests or alternative in self.requests


@dataclass(frozen=True, slots=True, eq=False)
class ClaimShape:
    """What a claim asks for. Claims that ask for the same share one shape."""

    spec: ResourceClaimSpec

    requests: tuple[RequestRecord, ...]
    constraints: tuple[AttributeConstraint, ...]

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        return tuple(one for request in self.requests for one in request.alternatives)

    @property
    def depth(self) -> int:
        """Calls within calls of a search for it, at most."""
        devices = sum(max(one.count for one in request.alternatives) for request in self.requests)
        return 1 + 2 * len(self.requests) + min(MAX_RESULTS, devices)

    @property
    def has_too_many(self) -> bool:
        """Whether it can only come to more devices than a claim may have."""
        return sum(request.fewest for request in self.requests) > MAX_RESULTS

    @property
    def has_lists(self) -> bool:
        return any(request.is_list for request in self.requests)


class UnknownClassError(Exception):
    """A request names a device class that does not exist."""

    def __init__(self, request: str, class_name: str) -> None:
        super().__init__(f"request {request}: device class {class_name} does not exist")


def shape_of(spec: ResourceClaimSpec, classes: Mapping[str, DeviceClass]) -> ClaimShape:
    """Raise UnknownClassError, or QuantityError for an invalid amount."""
    requests = []
    for request in spec.devices.requests:
        if request.exactly is not None:
            asked: list[tuple[str, ExactDeviceRequest | DeviceSubRequest]] = [(request.name, request.exactly)]
        else:
            asked = [(f"{request.name}/{one.name}", one) for one in request.first_available]
        alternatives = tuple(_alternative(name, one, classes) for name, one in asked)
        requests.append(RequestRecord(request.name, alternatives, is_list=request.exactly is None))
    constraints = tuple(
        AttributeConstraint(
            one.requests,
            one.match_attribute or one.distinct_attribute or "",
            is_distinct=one.match_attribute is None,
        )
        for one in spec.devices.constraints
    )
    return ClaimShape(spec, tuple(requests), constraints)


def _alternative(
    name: str, asked: ExactDeviceRequest | DeviceSubRequest, classes: Mapping[str, DeviceClass]
) -> Alternative:
    device_class = classes.get(asked.device_class_name)
    if device_class is None:
        raise UnknownClassError(name, asked.device_class_name)
    wanted = asked.capacity.requests if asked.capacity is not None else {}
    return Alternative(
        name=name,
        class_name=asked.device_class_name,
        selectors=(
            *_selectors(device_class.spec.selectors, asked.device_class_name),
            *_selectors(asked.selectors),
        ),
        count=0 if asked.allocation_mode == ALL else max(asked.count, 1),
        is_admin=bool(getattr(asked, "admin_access", None)),
        tolerations=asked.tolerations,
        capacity=tuple((one, nano_value(quantity)) for one, quantity in sorted(wanted.items())),
    )


def _selectors(selectors: Sequence[DeviceSelector], class_name: str = "") -> tuple[SelectorText, ...]:
    return tuple(
        SelectorText(one.cel.expression, number, class_name)
        for number, one in enumerate(selectors)
        if one.cel is not None
    )


def _tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    if toleration.effect not in {"", taint.effect}:
        return False
    if toleration.operator == EXISTS:
        return toleration.key in {"", taint.key}
    return (toleration.key, toleration.value) == (taint.key, taint.value)
