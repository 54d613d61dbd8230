"""Rules for ResourceClaim and ResourceClaimTemplate: both specs are fixed at creation."""

from posse.kinds.columns import AGE, NAME, NAME_AND_AGE
from posse.kinds.devices.claim_status import claim_status_errors, drop_deallocated_devices
from posse.kinds.devices.device_claims import default_claim_spec, device_claim_errors
from posse.kinds.machinery.declared import fixed_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import section
from posse.kinds.machinery.kind import (
    Json,
    Kind,
    KindRules,
    PrintedColumn,
    clear_status,
    keep_all_but_status,
)
from posse.kinds.machinery.metadata import (
    metadata_errors,
    metadata_update_errors,
    template_metadata_errors,
)
from posse.model.resource_claim import ResourceClaim, ResourceClaimTemplate


def default_claim(obj: Json) -> None:
    default_claim_spec(section(obj, "spec"))


def default_template(obj: Json) -> None:
    default_claim_spec(section(section(obj, "spec"), "spec"))


def prepare_status_update(new: Json, old: Json) -> None:
    keep_all_but_status(new, old)
    drop_deallocated_devices(new, old)


def validate_claim(claim: ResourceClaim) -> list[FieldError]:
    errors = metadata_errors(claim.metadata, namespaced=True)
    return errors + device_claim_errors("spec.devices", claim.spec.devices)


def validate_claim_update(new: ResourceClaim, old: ResourceClaim) -> list[FieldError]:
    return [
        *metadata_update_errors(new.metadata, old.metadata),
        *fixed_errors("", new, old),
        *claim_status_errors(new, old),
    ]


def validate_template(template: ResourceClaimTemplate) -> list[FieldError]:
    return [
        *metadata_errors(template.metadata, namespaced=True),
        *template_metadata_errors(template.spec.metadata),
        *device_claim_errors("spec.spec.devices", template.spec.spec.devices),
    ]


def validate_template_update(new: ResourceClaimTemplate, old: ResourceClaimTemplate) -> list[FieldError]:
    return metadata_update_errors(new.metadata, old.metadata) + fixed_errors("", new, old)


def _state(claim: Json, _now: float) -> str:
    status = claim.get("status") or {}
    is_deleted = bool(claim["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if is_deleted else []
    if status.get("allocation") is not None:
        states += ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
    elif not is_deleted:
        states.append("pending")
    return ",".join(states)


RESOURCE_CLAIM = Kind(
    name="ResourceClaim",
    plural="resourceclaims",
    group="resource.k8s.io",
    struct=ResourceClaim,
    rules=KindRules(
        default=default_claim,
        prepare_create=clear_status,
        prepare_status_update=prepare_status_update,
        validate=validate_claim,
        validate_update=validate_claim_update,
    ),
    columns=(
        NAME,
        PrintedColumn("State", "string", "Whether it is allocated, reserved, or deleted.", 0, _state),
        AGE,
    ),
    has_status=True,
)
RESOURCE_CLAIM_TEMPLATE = Kind(
    name="ResourceClaimTemplate",
    plural="resourceclaimtemplates",
    group="resource.k8s.io",
    struct=ResourceClaimTemplate,
    rules=KindRules(
        default=default_template, validate=validate_template, validate_update=validate_template_update
    ),
    columns=NAME_AND_AGE,
)
