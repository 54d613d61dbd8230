"""Rules for what is claimed: requests, constraints on the devices of several requests, configuration."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from posse.kinds.devices.capacities import quantity_errors
from posse.kinds.devices.device_names import (
    class_name_errors,
    driver_errors,
    fully_qualified_name_errors,
    qualified_name_errors,
)
from posse.kinds.devices.device_selectors import selectors_errors
from posse.kinds.machinery.checks import duplicates, formatted
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json
from posse.model.formats import dns_label, label_value
from posse.model.resource_claim import (
    ALL,
    ALTERNATIVES_MAX,
    CONFIGURATIONS_MAX,
    CONSTRAINTS_MAX,
    EXACT_COUNT,
    EXISTS,
    REQUESTS_MAX,
    TOLERATIONS_MAX,
    DeviceClaim,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    OpaqueDeviceConfiguration,
)

PARAMETERS_BYTES_MAX = 10 * 1024
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
    return [
        *_requests_errors(f"{path}.requests", claim.requests),
        *_constraints_errors(f"{path}.constraints", claim.constraints, names),
        *_configurations_errors(f"{path}.config", claim, names),
    ]


def references_errors(field: str, references: Sequence[str], names: set[str]) -> list[FieldError]:
    if len(references) > REQUESTS_MAX:
        return [FieldError.too_many(field, len(references), REQUESTS_MAX)]
    errors = []
    for index, reference in enumerate(references):
        errors += reference_errors(f"{field}[{index}]", reference, names)
    return errors + duplicates(field, references, references)


def reference_errors(field: str, reference: str, names: set[str]) -> list[FieldError]:
    if reference in names:
        return []
    parts = reference.split("/")
    problems = (
        [error for part in parts for error in formatted(field, part, dns_label)] if len(parts) < 3 else []
    )
    return [*problems, FieldError.invalid(field, reference, REQUEST_REFERENCE_TEXT)]


def opaque_errors(path: str, opaque: OpaqueDeviceConfiguration | None) -> list[FieldError]:
    if opaque is None:
        return [FieldError.required(path)]
    errors = driver_errors(f"{path}.driver", opaque.driver)
    return errors + raw_object_errors(f"{path}.parameters", opaque.parameters)


def raw_object_errors(field: str, raw: Any) -> list[FieldError]:
    if raw is None:
        return [FieldError.required(field)]
    if len(json.dumps(raw, separators=(",", ":"), ensure_ascii=False).encode()) > PARAMETERS_BYTES_MAX:
        return [FieldError.too_long(field, PARAMETERS_BYTES_MAX)]
    if not isinstance(raw, dict):
        return [FieldError.invalid(field, "<value omitted>", "must be a valid JSON object")]
    return []


def tolerations_errors(field: str, tolerations: Sequence[DeviceToleration]) -> list[FieldError]:
    if len(tolerations) > TOLERATIONS_MAX:
        return [FieldError.too_many(field, len(tolerations), TOLERATIONS_MAX)]
    errors = []
    for index, toleration in enumerate(tolerations):
        path = f"{field}[{index}]"
        errors += declared_errors(path, toleration)
        if toleration.operator != EXISTS:
            errors += formatted(f"{path}.value", toleration.value, label_value)
        elif toleration.value:
            text = "must be empty for operator `Exists`"
            errors.append(FieldError.invalid(f"{path}.value", toleration.value, text))
    return errors


def _requests_errors(field: str, requests: Sequence[DeviceRequest]) -> list[FieldError]:
    if not requests:
        return [FieldError.required(field)]
    if len(requests) > REQUESTS_MAX:
        return [FieldError.too_many(field, len(requests), REQUESTS_MAX)]
    errors = []
    for index, request in enumerate(requests):
        errors += _request_errors(f"{field}[{index}]", request)
    names = [request.name for request in requests]
    return errors + duplicates(field, names, names)


def _request_errors(path: str, request: DeviceRequest) -> list[FieldError]:
    errors = formatted(f"{path}.name", request.name, dns_label)
    alternatives = request.first_available
    if request.exactly is None and not alternatives:
        return [*errors, FieldError.required(path, _ONE_FORM)]
    if request.exactly is not None and alternatives:
        return [*errors, FieldError.invalid(path, None, f"{_ONE_FORM}, but multiple fields are set")]
    if request.exactly is not None:
        return errors + _asked_errors(f"{path}.exactly", request.exactly)
    field = f"{path}.firstAvailable"
    if len(alternatives) > ALTERNATIVES_MAX:
        return [*errors, FieldError.too_many(field, len(alternatives), ALTERNATIVES_MAX)]
    for index, alternative in enumerate(alternatives):
        errors += formatted(f"{field}[{index}].name", alternative.name, dns_label)
        errors += _asked_errors(f"{field}[{index}]", alternative)
    names = [alternative.name for alternative in alternatives]
    return errors + duplicates(field, names, names)


def _asked_errors(path: str, asked: ExactDeviceRequest | DeviceSubRequest) -> list[FieldError]:
    errors = [
        *class_name_errors(f"{path}.deviceClassName", asked.device_class_name),
        *selectors_errors(f"{path}.selectors", asked.selectors),
        *_mode_errors(path, asked.allocation_mode, asked.count),
        *tolerations_errors(f"{path}.tolerations", asked.tolerations),
    ]
    requests: Mapping[str, Any] = asked.capacity.requests if asked.capacity is not None else {}
    for name, amount in requests.items():
        errors += qualified_name_errors(f"{path}.capacity.requests", name)
        errors += quantity_errors(f"{path}.capacity.requests[{name}]", amount)
    return errors


def _mode_errors(path: str, mode: str, count: int) -> list[FieldError]:
    if mode == ALL:
        text = f"must not be specified when allocationMode is '{ALL}'"
        return [FieldError.invalid(f"{path}.count", count, text)] if count else []
    if mode == EXACT_COUNT:
        text = "must be greater than zero"
        return [FieldError.invalid(f"{path}.count", count, text)] if count <= 0 else []
    return [FieldError.not_supported(f"{path}.allocationMode", mode, (ALL, EXACT_COUNT))]


def _constraints_errors(
    field: str, constraints: Sequence[DeviceConstraint], names: set[str]
) -> list[FieldError]:
    if len(constraints) > CONSTRAINTS_MAX:
        return [FieldError.too_many(field, len(constraints), CONSTRAINTS_MAX)]
    errors = []
    for index, constraint in enumerate(constraints):
        path = f"{field}[{index}]"
        errors += references_errors(f"{path}.requests", constraint.requests, names)
        match constraint.match_attribute, constraint.distinct_attribute:
            case (str() as attribute, None):
                errors += fully_qualified_name_errors(f"{path}.matchAttribute", attribute)
            case (None, str() as attribute):
                errors += fully_qualified_name_errors(f"{path}.distinctAttribute", attribute)
            case _:
                errors.append(FieldError.required(path, _ONE_ATTRIBUTE))
    return errors


def _configurations_errors(field: str, claim: DeviceClaim, names: set[str]) -> list[FieldError]:
    if len(claim.config) > CONFIGURATIONS_MAX:
        return [FieldError.too_many(field, len(claim.config), CONFIGURATIONS_MAX)]
    errors = []
    for index, entry in enumerate(claim.config):
        path = f"{field}[{index}]"
        errors += references_errors(f"{path}.requests", entry.requests, names)
        errors += opaque_errors(f"{path}.opaque", entry.opaque)
    return errors
