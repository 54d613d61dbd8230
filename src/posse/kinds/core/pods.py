"""Rules for Pod. Constraints of single fields stand with the structs; here is what relates several.

What is filled in is in pod_defaults.py; containers and placement have own rules.
"""

from posse.kinds.core.containers import all_containers_errors
from posse.kinds.core.label_keys import resolve_label_keys
from posse.kinds.core.placements import PLACEMENT_RULES, repeated_spread_errors
from posse.kinds.core.pod_claims import claim_statuses_errors
from posse.kinds.core.pod_columns import POD_COLUMNS
from posse.kinds.core.pod_defaults import GRACE_SECONDS, default_pod, first_status
from posse.kinds.core.pod_updates import pod_spec_update_errors
from posse.kinds.machinery.declared import Rules, declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import DeletionRules, Json, Kind, KindRules, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.machinery.quantities import limit_errors
from posse.model.container import ResourceRequirements
from posse.model.pod import ENDED_PHASES, GRACE_SECONDS_MAX, Pod, PodSpec


def validate(pod: Pod) -> list[FieldError]:
    return metadata_errors(pod.metadata, namespaced=True) + spec_errors(pod.spec)


def validate_update(new: Pod, old: Pod) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec != old.spec:
        errors += spec_errors(new.spec) + pod_spec_update_errors(new.spec, old.spec)
    errors += declared_errors("status", new.status, old.status)
    if new.status.resource_claim_statuses != old.status.resource_claim_statuses:
        field, claims = "status.resourceClaimStatuses", new.spec.resource_claims
        errors += claim_statuses_errors(field, new.status.resource_claim_statuses, claims)
    return errors


def spec_errors(spec: PodSpec) -> list[FieldError]:
    errors = declared_errors("spec", spec, rules=_RULES) + all_containers_errors(spec)
    if spec.topology_spread_constraints:
        field = "spec.topologySpreadConstraints"
        errors += repeated_spread_errors(field, spec.topology_spread_constraints)
    if spec.scheduling_gates and spec.node_name:
        text = "cannot be set until all schedulingGates have been cleared"
        errors.append(FieldError.forbidden("spec.nodeName", text))
    if spec.scheduling_group is not None and spec.eviction_responders:
        text = "may not be set when evictionResponders is set"
        errors.append(FieldError.forbidden("spec.schedulingGroup", text))
    if spec.workload_ref is not None and spec.scheduling_group is not None:
        text = "may not be set when schedulingGroup is set"
        errors.append(FieldError.forbidden("spec.workloadRef", text))
    return errors


_RULES: Rules = {**PLACEMENT_RULES, ResourceRequirements: limit_errors}


def _prepare(obj: Json) -> None:
    resolve_label_keys(obj)
    first_status(obj)


def _keep_spec_and_quality(new: Json, old: Json) -> None:
    """The quality of service follows from the spec, so a status update cannot change it."""
    keep_spec(new, old)
    quality = (old.get("status") or {}).get("qosClass")
    if quality and isinstance(new.get("status"), dict):
        new["status"] = new["status"] | {"qosClass": quality}


def _grace_seconds(pod: Json, asked: int | None) -> int:
    """The kubelet of its node removes a pod that runs."""
    spec = pod.get("spec", {})
    if not spec.get("nodeName") or pod.get("status", {}).get("phase") in ENDED_PHASES:
        return 0
    if asked is None:
        asked = int(spec.get("terminationGracePeriodSeconds", GRACE_SECONDS))
    # As in Kubernetes a negative period means as soon as can be, but not by force.
    return min(asked, GRACE_SECONDS_MAX) if asked >= 0 else 1


RULES = KindRules(
    default=default_pod,
    prepare_create=_prepare,
    prepare_status_update=_keep_spec_and_quality,
    validate=validate,
    validate_update=validate_update,
    deletion=DeletionRules(grace_seconds=_grace_seconds, answers_with_object=True),
)


POD = Kind(
    name="Pod",
    plural="pods",
    struct=Pod,
    rules=RULES,
    columns=POD_COLUMNS,
    short_names=("po",),
    categories=("all",),
    has_status=True,
    subresources=("binding", "eviction"),
    selectable_fields=(
        "spec.hostNetwork",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
    ),
    absent_fields={"spec.hostNetwork": "false"},
)
