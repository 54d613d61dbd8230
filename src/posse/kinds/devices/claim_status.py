"""Rules for the status of a ResourceClaim: its allocation, its consumers, and what drivers report."""

from functools import partial

from posse.kinds.devices.device_claims import reference_errors, references_errors, request_names
from posse.kinds.devices.device_rules import DEVICE_RULES, binding_errors
from posse.kinds.machinery.checks import duplicates, immutable
from posse.kinds.machinery.declared import Rules, Whole, declared_errors, fields_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json
from posse.model.resource_claim import (
    DEVICE_CONDITIONS_MAX,
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceRequestAllocationResult,
    ResourceClaim,
    ResourceClaimStatus,
)

DeviceShare = tuple[str, str, str, str | None]


def drop_deallocated_devices(new: Json, old: Json) -> None:
    """What drivers reported about devices that the claim no longer has goes with them."""
    status = section(new, "status")
    gone = _shares(old.get("status") or {}) - _shares(status)
    reports = [report for report in entries(status, "devices") if _share(report) not in gone]
    if reports:
        status["devices"] = reports
    else:
        status.pop("devices", None)
    for name in ("reservedFor", "allocation"):
        if not status.get(name):
            status.pop(name, None)
    if not status:
        del new["status"]


def _shares(status: Json) -> set[tuple[str, ...]]:
    allocation = status.get("allocation")
    devices = allocation.get("devices") if isinstance(allocation, dict) else None
    return {_share(result) for result in entries(devices, "results")} if isinstance(devices, dict) else set()


def _share(part: Json) -> tuple[str, ...]:
    """As text, since nothing has been checked yet."""
    return tuple(str(part.get(name) or "") for name in ("driver", "pool", "device", "shareID"))


def claim_status_errors(new: ResourceClaim, old: ResourceClaim) -> list[FieldError]:
    status, before = new.status, old.status
    if status == before:
        return []
    errors = fields_errors("status", status, DEVICE_RULES, "reservedFor") + _reports_errors("status", status)
    if status.reserved_for and status.allocation is None:
        text = "may not be specified when `allocated` is not set"
        errors.append(FieldError.forbidden("status.reservedFor", text))
    elif new.metadata.deletion_timestamp and set(status.reserved_for) - set(before.reserved_for):
        text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        errors.append(FieldError.forbidden("status.reservedFor", text))
    if status.allocation is not None and status.allocation != before.allocation:
        if before.allocation is not None:
            errors.append(immutable("status.allocation", status.allocation))
        else:
            names = request_names(new.spec.devices)
            errors += _allocation_errors("status.allocation", status.allocation, names)
    return errors


def _allocation_errors(path: str, allocation: AllocationResult, names: set[str]) -> list[FieldError]:
    rules: Rules = {
        **DEVICE_RULES,
        DeviceRequestAllocationResult: Whole(partial(_result_errors, names)),
        DeviceAllocationConfiguration: Whole(partial(_configuration_errors, names)),
    }
    return declared_errors(path, allocation, rules=rules)


def _result_errors(
    names: set[str], path: str, result: DeviceRequestAllocationResult, rules: Rules
) -> list[FieldError]:
    binding = "bindingConditions", "bindingFailureConditions"
    return [
        *reference_errors(f"{path}.request", result.request, names),
        *fields_errors(path, result, rules, "driver", "pool", "device", *binding),
        *binding_errors(path, result),
        *fields_errors(path, result, rules, "tolerations", "shareID"),
    ]


def _configuration_errors(
    names: set[str], path: str, entry: DeviceAllocationConfiguration, rules: Rules
) -> list[FieldError]:
    return references_errors(path, entry, names) + fields_errors(path, entry, rules, "source", "opaque")


def _reports_errors(path: str, status: ResourceClaimStatus) -> list[FieldError]:
    results = status.allocation.devices.results if status.allocation is not None else ()
    allocated = {_device_share(result) for result in results}
    rules: Rules = {AllocatedDeviceStatus: Whole(partial(_report_errors, allocated))}
    shares = [_device_share(report) for report in status.devices]
    repeated = duplicates(f"{path}.devices", shares, ["/".join(filter(None, share)) for share in shares])
    return repeated + fields_errors(path, status, rules, "devices")


def _device_share(part: DeviceRequestAllocationResult | AllocatedDeviceStatus) -> DeviceShare:
    return part.driver, part.pool, part.device, part.share_id


def _report_errors(
    allocated: set[DeviceShare], path: str, report: AllocatedDeviceStatus, rules: Rules
) -> list[FieldError]:
    errors = fields_errors(path, report, rules, "driver", "pool", "device", "shareID")
    if _device_share(report) not in allocated:
        name = f"{report.driver}/{report.pool}/{report.device}"
        errors.append(FieldError.invalid(path, name, "must be an allocated device in the claim"))
    conditions = f"{path}.conditions"
    # Kubernetes judges conditions that are too many, too, and compares those without a type.
    if len(report.conditions) > DEVICE_CONDITIONS_MAX:
        errors.append(FieldError.too_many(conditions, len(report.conditions), DEVICE_CONDITIONS_MAX))
    errors += fields_errors(path, report, rules, "conditions")
    types = [condition.type for condition in report.conditions]
    errors += duplicates(conditions, types, types, ".type")
    return errors + fields_errors(path, report, rules, "data")
