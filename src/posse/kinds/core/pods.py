"""Rules for Pod. What is filled in is in pod_defaults.py; containers and placement have own rules."""

from collections.abc import Sequence

from posse.kinds.core.containers import all_containers_errors
from posse.kinds.core.label_keys import resolve_label_keys
from posse.kinds.core.placements import affinity_errors, spread_errors, tolerations_errors
from posse.kinds.core.pod_claims import claim_statuses_errors, pod_claims_errors
from posse.kinds.core.pod_columns import POD_COLUMNS
from posse.kinds.core.pod_defaults import GRACE_SECONDS, default_pod, first_status
from posse.kinds.core.pod_updates import pod_spec_update_errors
from posse.kinds.machinery.checks import at_most, formatted, one_of, optional, required
from posse.kinds.machinery.conditions import core_conditions_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import DeletionRules, Json, Kind, KindRules, keep_spec
from posse.kinds.machinery.metadata import label_errors, metadata_errors, metadata_update_errors
from posse.kinds.machinery.quantities import amounts_errors, requirements_errors
from posse.model.formats import dns_label, dns_subdomain, label_key
from posse.model.pod import (
    ENDED_PHASES,
    Pod,
    PodSchedulingGate,
    PodSchedulingGroup,
    PodSpec,
    PodWorkloadReference,
)
from posse.model.volume import Volume

ACTIVE_DEADLINE_SECONDS_MAX = 2**31 - 1
# Kubernetes sets no bound, and past some centuries its deletion times come out wrong.
GRACE_SECONDS_MAX = 2**31 - 1

_restart_policy = one_of("Always", "OnFailure", "Never")
_dns_policy = one_of("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_preemption_policy = one_of("PreemptLowerPriority", "Never")
_operating_system = one_of("linux", "windows")
_grace_period = at_most(GRACE_SECONDS_MAX)


def validate(pod: Pod) -> list[FieldError]:
    return metadata_errors(pod.metadata, namespaced=True) + spec_errors(pod.spec)


def validate_update(new: Pod, old: Pod) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec != old.spec:
        errors += spec_errors(new.spec) + pod_spec_update_errors(new.spec, old.spec)
    errors += core_conditions_errors("status.conditions", new.status.conditions, old.status.conditions)
    if new.status.resource_claim_statuses != old.status.resource_claim_statuses:
        field, claims = "status.resourceClaimStatuses", new.spec.resource_claims
        errors += claim_statuses_errors(field, new.status.resource_claim_statuses, claims)
    if new.status.nominated_node_name != old.status.nominated_node_name:
        errors += optional(dns_subdomain)("status.nominatedNodeName", new.status.nominated_node_name)
    return errors


def spec_errors(spec: PodSpec) -> list[FieldError]:
    return [
        *_volumes_errors("spec.volumes", spec.volumes),
        *all_containers_errors(spec),
        *_setting_errors(spec),
        *_name_errors(spec),
        *label_errors("spec.nodeSelector", spec.node_selector),
        *affinity_errors("spec.affinity", spec.affinity),
        *tolerations_errors("spec.tolerations", spec.tolerations),
        *spread_errors("spec.topologySpreadConstraints", spec.topology_spread_constraints),
        *amounts_errors("spec.overhead", spec.overhead),
        *([] if spec.resources is None else requirements_errors("spec.resources", spec.resources)),
        *pod_claims_errors(spec),
        *_gates_errors("spec.schedulingGates", spec.scheduling_gates, node_name=spec.node_name),
        *_group_errors("spec.schedulingGroup", spec.scheduling_group, spec),
        *_workload_reference_errors("spec.workloadRef", spec.workload_ref, spec),
    ]


def _setting_errors(spec: PodSpec) -> list[FieldError]:
    errors = [
        *_restart_policy("spec.restartPolicy", spec.restart_policy),
        *_dns_policy("spec.dnsPolicy", spec.dns_policy),
        *_preemption_policy("spec.preemptionPolicy", spec.preemption_policy),
        *_operating_system("spec.os.name", spec.os.name if spec.os else None),
        *_grace_period("spec.terminationGracePeriodSeconds", spec.termination_grace_period_seconds),
    ]
    seconds = spec.active_deadline_seconds
    if seconds is not None and not 1 <= seconds <= ACTIVE_DEADLINE_SECONDS_MAX:
        text = f"must be between 1 and {ACTIVE_DEADLINE_SECONDS_MAX}, inclusive"
        errors.append(FieldError.invalid("spec.activeDeadlineSeconds", seconds, text))
    return errors


def _name_errors(spec: PodSpec) -> list[FieldError]:
    label, subdomain = optional(dns_label), optional(dns_subdomain)
    errors = [
        *subdomain("spec.serviceAccountName", spec.service_account_name),
        *subdomain("spec.nodeName", spec.node_name),
        *label("spec.hostname", spec.hostname),
        *label("spec.subdomain", spec.subdomain),
        *subdomain("spec.priorityClassName", spec.priority_class_name),
        *subdomain("spec.runtimeClassName", spec.runtime_class_name),
    ]
    for index, gate in enumerate(spec.readiness_gates):
        errors += formatted(f"spec.readinessGates[{index}].conditionType", gate.condition_type, label_key)
    return errors


def _volumes_errors(field: str, volumes: Sequence[Volume]) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for index, volume in enumerate(volumes):
        path = f"{field}[{index}]"
        errors += required(f"{path}.name", volume.name, dns_label)
        if volume.name in seen:
            errors.append(FieldError.duplicate(f"{path}.name", volume.name))
        seen.add(volume.name)
        claim = volume.persistent_volume_claim
        if claim is not None and not claim.claim_name:
            errors.append(FieldError.required(f"{path}.persistentVolumeClaim.claimName"))
    return errors


def _gates_errors(field: str, gates: Sequence[PodSchedulingGate], *, node_name: str) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        errors += formatted(f"{field}[{index}]", gate.name, label_key)
        if gate.name in seen:
            errors.append(FieldError.duplicate(f"{field}[{index}]", gate.name))
        seen.add(gate.name)
    if gates and node_name:
        text = "cannot be set until all schedulingGates have been cleared"
        errors.append(FieldError.forbidden("spec.nodeName", text))
    return errors


def _group_errors(field: str, group: PodSchedulingGroup | None, spec: PodSpec) -> list[FieldError]:
    if group is None:
        return []
    if spec.eviction_responders:
        return [FieldError.forbidden(field, "may not be set when evictionResponders is set")]
    path = f"{field}.podGroupName"
    if group.pod_group_name is None:
        return [FieldError.invalid(path, None, "must specify one of: `podGroupName`")]
    return formatted(path, group.pod_group_name, dns_subdomain)


def _workload_reference_errors(
    field: str, reference: PodWorkloadReference | None, spec: PodSpec
) -> list[FieldError]:
    if reference is None:
        return []
    if spec.scheduling_group is not None:
        return [FieldError.forbidden(field, "may not be set when schedulingGroup is set")]
    return [
        *required(f"{field}.name", reference.name, dns_subdomain),
        *required(f"{field}.podGroup", reference.pod_group, dns_label),
        *optional(dns_label)(f"{field}.podGroupReplicaKey", reference.pod_group_replica_key),
    ]


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
