"""Devices that are not ready at once: their drivers report in the claim's status when a pod may be bound."""

from posse.engine.devices.claims import DeviceClaimRecord
from posse.model.resource_claim import AllocationResult, DeviceRequestAllocationResult

_Identity = tuple[str, str, str, str | None]


def has_conditions(allocation: AllocationResult) -> bool:
    return any(one.binding_conditions for one in allocation.devices.results)


def is_ready(record: DeviceClaimRecord) -> bool:
    """Whether drivers have met all conditions for its devices."""
    reported = _reported(record)
    return record.allocation is not None and all(
        reported.get(_identity(one), {}).get(condition) == "True"
        for one in record.allocation.devices.results
        for condition in one.binding_conditions
    )


def failure(record: DeviceClaimRecord) -> str:
    """The request whose device its driver could not make ready, and why; empty if there is none."""
    reported = _reported(record)
    for one in record.allocation.devices.results if record.allocation is not None else ():
        for condition in one.binding_failure_conditions:
            if reported.get(_identity(one), {}).get(condition) == "True":
                return f"request {one.request}: device {one.driver}/{one.pool}/{one.device}: {condition}"
    return ""


def _reported(record: DeviceClaimRecord) -> dict[_Identity, dict[str, str]]:
    return {
        (one.driver, one.pool, one.device, one.share_id): {c.type: c.status for c in one.conditions}
        for one in record.claim.status.devices
    }


def _identity(result: DeviceRequestAllocationResult) -> _Identity:
    return result.driver, result.pool, result.device, result.share_id
