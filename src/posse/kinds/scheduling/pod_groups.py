"""Rules for PodGroup: what is filled in, what is refused, what may change. Priorities are filled in by
admission.
"""

from dataclasses import replace
from typing import Any

from posse.kinds.columns import AGE, NAME, NONE, value_at
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, clear_status, keep_status
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.scheduling.older_versions import POD_GROUP_V1ALPHA2
from posse.model.workload import PodGroup, PodGroupSpec, PodGroupStatus

# Groups for clusters whose own API has none, in the same shapes.
IN_POSSE_GROUP: dict[str, Any] = {"group": "scheduling.posse.dev", "versions": ("v1alpha1",), "dialects": {}}
DEFAULT_PREEMPTION_POLICY = "PreemptLowerPriority"


def default(obj: Json) -> None:
    """Also serves CompositePodGroup, which has the same defaults.

    The preemption policy is none of them: it is that of the priority class, which only admission knows.
    """
    fill(section(obj, "spec"), "disruptionMode", {"single": {}})


def keep_unstated(new: Json, old: Json) -> None:
    """The preemption policy is fixed. Who does not state it leaves it as it is.

    A group that was made while the gate of preemption policies was off has none, which is as good as the
    usual one.
    """
    keep_status(new, old)
    spec, before = section(new, "spec"), old.get("spec", {}).get("preemptionPolicy")
    if before is not None:
        fill(spec, "preemptionPolicy", before)
    elif spec.get("preemptionPolicy") == DEFAULT_PREEMPTION_POLICY:
        del spec["preemptionPolicy"]


def validate(group: PodGroup) -> list[FieldError]:
    return metadata_errors(group.metadata, namespaced=True) + _spec_errors(group.spec, None)


def validate_update(new: PodGroup, old: PodGroup) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.status != old.status:
        errors += _status_errors(new.status, new.spec)
    return errors + _spec_errors(new.spec, old.spec)


def _spec_errors(new: PodGroupSpec, old: PodGroupSpec | None) -> list[FieldError]:
    errors = []
    if _is_orphan(new) and not (old is not None and _is_orphan(old)):
        text = "must be set when parentCompositePodGroupName is set"
        errors.append(FieldError.required("spec.workloadRef", text))
    return errors + declared_errors("spec", new, old)


def _is_orphan(spec: PodGroupSpec) -> bool:
    """Groups of a hierarchy all come from one Workload; one that names a parent but no Workload cannot."""
    return spec.parent_composite_pod_group_name is not None and spec.workload_ref is None


def _status_errors(status: PodGroupStatus, spec: PodGroupSpec) -> list[FieldError]:
    claims = {claim.name for claim in spec.resource_claims}
    text = "must match the name of an entry in `spec.resourceClaims`"
    return declared_errors("status", status) + [
        FieldError.invalid(f"status.resourceClaimStatuses[{index}].name", claim.name, text)
        for index, claim in enumerate(status.resource_claim_statuses)
        if claim.name not in claims
    ]


RULES = KindRules(
    default=default,
    prepare_create=clear_status,
    prepare_update=keep_unstated,
    validate=validate,
    validate_update=validate_update,
    allow_unconditional_update=False,
)


def _policy(group: Json, _now: float) -> str:
    policy = (group.get("spec") or {}).get("schedulingPolicy") or {}
    return "Gang" if policy.get("gang") is not None else "Basic"


_NOT_TRIED = {"Invalid": "Invalid", "WaitingForPods": "Pending", "WaitingForPodGroup": "Pending"}


def _group_status(group: Json, _now: float) -> str:
    conditions = {item.get("type"): item for item in (group.get("status") or {}).get("conditions") or []}
    if "DisruptionTarget" in conditions:
        return str(conditions["DisruptionTarget"].get("reason") or "")
    names = ("PodGroupInitiallyScheduled", "CompositePodGroupInitiallyScheduled")
    scheduled = next((conditions[name] for name in names if name in conditions), None)
    if scheduled is None:
        return "Pending"
    if scheduled.get("status") == "True":
        return "Scheduled"
    return _NOT_TRIED.get(str(scheduled.get("reason")), "Unschedulable")


_POLICY = PrintedColumn("Policy", "string", "How members are started: Basic or Gang.", 0, _policy)

_WORKLOAD = PrintedColumn(
    "Workload",
    "string",
    "Workload it is made from.",
    0,
    value_at("spec", "workloadRef", "workloadName", absent=NONE),
)

_GROUP_STATUS = PrintedColumn("Status", "string", "Whether the group has been scheduled.", 0, _group_status)

GROUP_COLUMNS = (NAME, _POLICY, _WORKLOAD, _GROUP_STATUS, AGE)

POD_GROUP = Kind(
    name="PodGroup",
    plural="podgroups",
    group="scheduling.k8s.io",
    versions=("v1beta1", "v1alpha3", "v1alpha2"),
    struct=PodGroup,
    rules=RULES,
    columns=GROUP_COLUMNS,
    has_status=True,
    dialects={"v1alpha2": POD_GROUP_V1ALPHA2},
)
POSSE_POD_GROUP = replace(POD_GROUP, **IN_POSSE_GROUP)
