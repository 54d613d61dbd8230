"""Rules for the status of a ResourceClaim: its allocation, its consumers, and what drivers report."""

from collections.abc import Sequence

from posse.kinds.devices.device_claims import (
    opaque_errors,
    raw_object_errors,
    reference_errors,
    references_errors,
    request_names,
    tolerations_errors,
)
from posse.kinds.devices.device_names import (
    binding_condition_errors,
    device_errors,
    driver_errors,
    pool_errors,
    share_errors,
)
from posse.kinds.machinery.checks import duplicates, immutable
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json
from posse.model.resource_claim import (
    CONFIGURATIONS_MAX,
    CONSUMERS_MAX,
    DEVICE_CONDITIONS_MAX,
    FROM_CLAIM,
    FROM_CLASS,
    RESULTS_MAX,
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceRequestAllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
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


def _shares(status: Json) -> set[tuple[object, ...]]:
    allocation = status.get("allocation")
    devices = allocation.get("devices") if isinstance(allocation, dict) else None
    return {_share(result) for result in entries(devices, "results")} if isinstance(devices, dict) else set()


def _share(part: Json) -> tuple[object, ...]:
    return part.get("driver"), part.get("pool"), part.get("device"), part.get("shareID")


def claim_status_errors(new: ResourceClaim, old: ResourceClaim) -> list[FieldError]:
    status, before = new.status, old.status
    if status == before:
        return []
    errors = [
        *_consumers_errors("status.reservedFor", status.reserved_for),
        *_reports_errors("status.devices", status),
    ]
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


def _consumers_errors(field: str, consumers: Sequence[ResourceClaimConsumerReference]) -> list[FieldError]:
    if len(consumers) > CONSUMERS_MAX:
        return [FieldError.too_many(field, len(consumers), CONSUMERS_MAX)]
    uids = [consumer.uid for consumer in consumers]
    errors = duplicates(field, uids, uids)
    for index, consumer in enumerate(consumers):
        errors += declared_errors(f"{field}[{index}]", consumer)
    return errors


def _allocation_errors(path: str, allocation: AllocationResult, names: set[str]) -> list[FieldError]:
    results, config = allocation.devices.results, allocation.devices.config
    errors: list[FieldError] = []
    if len(results) > RESULTS_MAX:
        errors.append(FieldError.too_many(f"{path}.devices.results", len(results), RESULTS_MAX))
    else:
        for index, result in enumerate(results):
            errors += _result_errors(f"{path}.devices.results[{index}]", result, names)
    if len(config) > 2 * CONFIGURATIONS_MAX:
        errors.append(FieldError.too_many(f"{path}.devices.config", len(config), 2 * CONFIGURATIONS_MAX))
    else:
        for index, entry in enumerate(config):
            errors += _configuration_errors(f"{path}.devices.config[{index}]", entry, names)
    if allocation.node_selector is not None:
        errors += declared_errors(f"{path}.nodeSelector", allocation.node_selector)
    return errors


def _result_errors(path: str, result: DeviceRequestAllocationResult, names: set[str]) -> list[FieldError]:
    return [
        *reference_errors(f"{path}.request", result.request, names),
        *driver_errors(f"{path}.driver", result.driver),
        *pool_errors(f"{path}.pool", result.pool),
        *device_errors(f"{path}.device", result.device),
        *binding_condition_errors(path, result.binding_conditions, result.binding_failure_conditions),
        *tolerations_errors(f"{path}.tolerations", result.tolerations),
        *share_errors(f"{path}.shareID", result.share_id),
    ]


def _configuration_errors(
    path: str, entry: DeviceAllocationConfiguration, names: set[str]
) -> list[FieldError]:
    errors = references_errors(f"{path}.requests", entry.requests, names)
    if not entry.source:
        errors.append(FieldError.required(f"{path}.source"))
    elif entry.source not in (FROM_CLAIM, FROM_CLASS):
        errors.append(FieldError.not_supported(f"{path}.source", entry.source, (FROM_CLAIM, FROM_CLASS)))
    return errors + opaque_errors(f"{path}.opaque", entry.opaque)


def _reports_errors(field: str, status: ResourceClaimStatus) -> list[FieldError]:
    allocated = {
        (result.driver, result.pool, result.device, result.share_id)
        for result in (status.allocation.devices.results if status.allocation is not None else ())
    }
    shares = [(report.driver, report.pool, report.device, report.share_id) for report in status.devices]
    errors = duplicates(field, shares, ["/".join(filter(None, share)) for share in shares])
    for index, report in enumerate(status.devices):
        errors += _report_errors(f"{field}[{index}]", report, is_allocated=shares[index] in allocated)
    return errors


def _report_errors(path: str, report: AllocatedDeviceStatus, *, is_allocated: bool) -> list[FieldError]:
    errors = [
        *driver_errors(f"{path}.driver", report.driver),
        *pool_errors(f"{path}.pool", report.pool),
        *device_errors(f"{path}.device", report.device),
        *share_errors(f"{path}.shareID", report.share_id),
    ]
    if not is_allocated:
        name = f"{report.driver}/{report.pool}/{report.device}"
        errors.append(FieldError.invalid(path, name, "must be an allocated device in the claim"))
    conditions = f"{path}.conditions"
    if len(report.conditions) > DEVICE_CONDITIONS_MAX:
        errors.append(FieldError.too_many(conditions, len(report.conditions), DEVICE_CONDITIONS_MAX))
    for index, condition in enumerate(report.conditions):
        errors += declared_errors(f"{conditions}[{index}]", condition)
    types = [condition.type for condition in report.conditions]
    errors += duplicates(conditions, types, types, ".type")
    return errors + (raw_object_errors(f"{path}.data", report.data) if report.data is not None else [])
