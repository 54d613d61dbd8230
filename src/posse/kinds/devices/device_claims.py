"""Rules for what is claimed: requests, constraints on the devices of several requests, configuration."""

from functools import partial

from posse.kinds.devices.device_rules import DEVICE_RULES
from posse.kinds.machinery.checks import formatted
from posse.kinds.machinery.declared import Rules, Whole, declared_errors, fields_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json
from posse.model.formats import dns_label
from posse.model.resource_claim import (
    ALL,
    EXACT_COUNT,
    REQUESTS_MAX,
    DeviceAllocationConfiguration,
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
)

REQUEST_REFERENCE_TEXT = (
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
)
_ONE_FORM = "exactly one of `exactly` or `firstAvailable` is required"
_ONE_ATTRIBUTE = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
)


def default_claim_spec(spec: Json) -> None:
    """One device of the class, unless the request says otherwise."""
    for request in entries(section(spec, "devices"), "requests"):
        exactly = request.get("exactly")
        for asked in ([exactly] if isinstance(exactly, dict) else []) + entries(request, "firstAvailable"):
            # Kubernetes drops it unless an alpha feature gate is on.
            asked.pop("derivedAttributes", None)
            if asked.get("allocationMode") in (None, ""):
                asked["allocationMode"] = EXACT_COUNT
            if asked["allocationMode"] == EXACT_COUNT and asked.get("count") in (None, 0):
                asked["count"] = 1
            for toleration in entries(asked, "tolerations"):
                if toleration.get("operator") in (None, ""):
                    toleration["operator"] = "Equal"


def request_names(claim: DeviceClaim) -> set[str]:
    """All that results and constraints may refer to."""
    names = {request.name for request in claim.requests}
    return names | {
        f"{request.name}/{alternative.name}"
        for request in claim.requests
        for alternative in request.first_available
    }


def device_claim_errors(path: str, claim: DeviceClaim) -> list[FieldError]:
    names = request_names(claim)
    rules: Rules = {
        **_REQUEST_RULES,
        DeviceConstraint: Whole(partial(_constraint_errors, names)),
        DeviceClaimConfiguration: Whole(partial(_configuration_errors, names)),
    }
    return declared_errors(path, claim, rules=rules)


def references_errors(
    path: str,
    holder: DeviceConstraint | DeviceClaimConfiguration | DeviceAllocationConfiguration,
    names: set[str],
) -> list[FieldError]:
    errors = fields_errors(path, holder, {}, "requests")
    if len(holder.requests) > REQUESTS_MAX:
        return errors
    unknown = []
    for index, reference in enumerate(holder.requests):
        unknown += reference_errors(f"{path}.requests[{index}]", reference, names)
    return unknown + errors


def reference_errors(field: str, reference: str, names: set[str]) -> list[FieldError]:
    if reference in names:
        return []
    parts = reference.split("/")
    problems = (
        [error for part in parts for error in formatted(field, part, dns_label)] if len(parts) < 3 else []
    )
    return [*problems, FieldError.invalid(field, reference, REQUEST_REFERENCE_TEXT)]


def _request_errors(path: str, request: DeviceRequest, rules: Rules) -> list[FieldError]:
    errors = fields_errors(path, request, rules, "name")
    if request.exactly is None and not request.first_available:
        return [*errors, FieldError.required(path, _ONE_FORM)]
    if request.exactly is not None and request.first_available:
        return [*errors, FieldError.invalid(path, None, f"{_ONE_FORM}, but multiple fields are set")]
    return errors + fields_errors(path, request, rules, "exactly", "firstAvailable")


def _alternative_errors(path: str, asked: DeviceSubRequest, rules: Rules) -> list[FieldError]:
    return fields_errors(path, asked, rules, "name") + _asked_errors(path, asked, rules)


def _asked_errors(path: str, asked: ExactDeviceRequest | DeviceSubRequest, rules: Rules) -> list[FieldError]:
    return [
        *fields_errors(path, asked, rules, "deviceClassName", "selectors", "allocationMode"),
        *_count_errors(f"{path}.count", asked.allocation_mode, asked.count),
        *fields_errors(path, asked, rules, "tolerations", "capacity"),
    ]


def _count_errors(field: str, mode: str, count: int) -> list[FieldError]:
    if mode == ALL and count:
        text = f"must not be specified when allocationMode is '{ALL}'"
        return [FieldError.invalid(field, count, text)]
    if mode == EXACT_COUNT and count <= 0:
        return [FieldError.invalid(field, count, "must be greater than zero")]
    return []


def _constraint_errors(
    names: set[str], path: str, constraint: DeviceConstraint, rules: Rules
) -> list[FieldError]:
    errors = references_errors(path, constraint, names)
    if (constraint.match_attribute is None) == (constraint.distinct_attribute is None):
        return [*errors, FieldError.required(path, _ONE_ATTRIBUTE)]
    return errors + fields_errors(path, constraint, rules, "matchAttribute", "distinctAttribute")


def _configuration_errors(
    names: set[str], path: str, entry: DeviceClaimConfiguration, rules: Rules
) -> list[FieldError]:
    return references_errors(path, entry, names) + fields_errors(path, entry, rules, "opaque")


_REQUEST_RULES: Rules = {
    **DEVICE_RULES,
    DeviceRequest: Whole(_request_errors),
    ExactDeviceRequest: Whole(_asked_errors),
    DeviceSubRequest: Whole(_alternative_errors),
}
