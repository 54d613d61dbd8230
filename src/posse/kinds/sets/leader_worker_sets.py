"""Rules for LeaderWorkerSet: what is filled in, what is refused, what may change.

Pod templates stay as they are written, as in every kind that comes from a CRD, but they are judged as the
pods that are made from them: what could not be run is refused here, before anything of it exists.
"""

from collections.abc import Mapping

import msgspec

from posse.kinds.batch.stateful_sets import claims_errors, endless_errors
from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.core.pod_defaults import default_pod
from posse.kinds.core.pod_templates import template_errors, with_claims
from posse.kinds.machinery.checks import immutable, one_of
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill, fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, clear_status
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.machinery.scaling import selector_in_status
from posse.model.decoding import decode
from posse.model.formats import LABEL_LENGTH_MAX, dns_1035_label
from posse.model.leader_worker_set import (
    DEPRECATED_RESTART_POLICY,
    LEADER_CREATED,
    LEADER_EXCLUDED,
    LEADER_WORKER,
    NO_PROVIDER,
    NO_RECREATION,
    PROVIDER,
    PROVIDERS,
    RECREATE_ON_POD_RESTART,
    SHARED,
    SHARED_CLAIMS,
    SUBGROUP_EXCLUSIVE_TOPOLOGY,
    LeaderWorkerSet,
    LeaderWorkerSetSpec,
    LeaderWorkerTemplate,
    RollingUpdateConfiguration,
    SubGroupPolicy,
    provider_name,
    shared_claims,
)
from posse.model.pod import PodTemplateSpec
from posse.model.shares import part_of
from posse.model.stateful_set import ROLLING_UPDATE

PODS_MAX = 2**31 - 1
HASH_LENGTH = 10
GROUP_CLAIMS_MAX = 4
TEMPLATE = "spec.leaderWorkerTemplate"
ROLLING = "spec.rolloutStrategy.rollingUpdateConfiguration"

_provider = one_of(*PROVIDERS, NO_PROVIDER)


def default(obj: Json) -> None:
    spec = section(obj, "spec")
    fill(spec, "replicas", 1)
    fill_text(spec, "startupPolicy", LEADER_CREATED)
    template = section(spec, "leaderWorkerTemplate")
    fill(template, "size", 1)
    fill_text(template, "restartPolicy", RECREATE_ON_POD_RESTART)
    if template["restartPolicy"] == DEPRECATED_RESTART_POLICY:
        template["restartPolicy"] = NO_RECREATION
    if template.get("subGroupPolicy") is not None:
        fill_text(section(template, "subGroupPolicy"), "subGroupPolicyType", LEADER_WORKER)
    strategy = section(spec, "rolloutStrategy")
    fill_text(strategy, "type", ROLLING_UPDATE)
    rolling = section(strategy, "rollingUpdateConfiguration")
    for name, value in (("partition", 0), ("maxUnavailable", 1), ("maxSurge", 0)):
        fill(rolling, name, value)
    if spec.get("networkConfig") is not None:
        fill_text(section(spec, "networkConfig"), "subdomainPolicy", SHARED)


def default_new(obj: Json) -> None:
    section(section(obj, "spec"), "networkConfig")


def validate(lws: LeaderWorkerSet) -> list[FieldError]:
    return [
        *metadata_errors(lws.metadata, namespaced=True, name_format=dns_1035_label),
        *_annotation_errors(lws),
        *_spec_errors(lws),
        *_shared_claim_errors(lws),
    ]


def validate_update(new: LeaderWorkerSet, old: LeaderWorkerSet) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.metadata.annotations != old.metadata.annotations:
        errors += _annotation_errors(new) + _provider_update_errors(new, old)
    if new.spec != old.spec:
        errors += _spec_errors(new) + _subgroup_update_errors(new, old) + _network_update_errors(new, old)
    if new.spec != old.spec or new.metadata.annotations != old.metadata.annotations:
        errors += _shared_claim_errors(new)
    if new.status != old.status:
        errors += declared_errors("status", new.status)
    return errors


def _annotation_errors(lws: LeaderWorkerSet) -> list[FieldError]:
    annotations = lws.metadata.annotations
    errors = _provider(f"metadata.annotations[{PROVIDER}]", annotations.get(PROVIDER))
    has_policy = lws.spec.leader_worker_template.sub_group_policy is not None
    if SUBGROUP_EXCLUSIVE_TOPOLOGY in annotations and not has_policy:
        field = f"metadata.annotations[{SUBGROUP_EXCLUSIVE_TOPOLOGY}]"
        text = f"cannot have {SUBGROUP_EXCLUSIVE_TOPOLOGY} without subGroupPolicy set"
        errors.append(FieldError.invalid(field, annotations[SUBGROUP_EXCLUSIVE_TOPOLOGY], text))
    return errors


def _shared_claim_errors(lws: LeaderWorkerSet) -> list[FieldError]:
    """A claim of the replica stands for an entry that leader and workers have alike."""
    field, annotations = f"metadata.annotations[{SHARED_CLAIMS}]", lws.metadata.annotations
    template = lws.spec.leader_worker_template
    parts = (template.leader, template.worker_template)
    own, others = ({entry.name: entry for entry in part.spec.resource_claims} for part in parts)
    names = shared_claims(annotations)
    if names and provider_name(annotations, template.worker_template.spec.scheduler_name) != PROVIDERS[0]:
        text = f"groups of the provider {PROVIDERS[0]} alone have claims"
        return [FieldError.forbidden(field, text)]
    if len(names) > GROUP_CLAIMS_MAX:
        return [FieldError.too_many(field, len(names), GROUP_CLAIMS_MAX)]
    text = "must be in resourceClaims of both templates, and the same in both"
    return [
        FieldError.invalid(field, name, text)
        for name in names
        if own.get(name) is None or own.get(name) != others.get(name)
    ]


def _provider_update_errors(new: LeaderWorkerSet, old: LeaderWorkerSet) -> list[FieldError]:
    """Pods that exist belong to groups of one provider, and would have to be recreated all at once."""
    changed = [
        name
        for name in (PROVIDER, SHARED_CLAIMS)
        if new.metadata.annotations.get(name) != old.metadata.annotations.get(name)
    ]
    return [
        immutable(f"metadata.annotations[{name}]", new.metadata.annotations.get(name)) for name in changed
    ]


def _spec_errors(lws: LeaderWorkerSet) -> list[FieldError]:
    template = lws.spec.leader_worker_template
    errors = declared_errors("spec", lws.spec)
    if not errors:
        # What compares fields takes each of them as valid.
        errors = _size_errors(lws.spec) + _rollout_errors(lws.spec)
        errors += _subgroup_errors(template.sub_group_policy, template.group_size)
    return [
        *errors,
        *_templates_errors(template),
        *_gang_errors(lws.metadata.annotations, template),
        *claims_errors(f"{TEMPLATE}.volumeClaimTemplates", template.volume_claim_templates),
        *_child_name_errors(lws),
    ]


def _size_errors(spec: LeaderWorkerSetSpec) -> list[FieldError]:
    if spec.wanted * spec.leader_worker_template.group_size <= PODS_MAX:
        return []
    text = f"the product of replicas and size must not exceed {PODS_MAX}"
    return [FieldError.invalid("spec.replicas", spec.wanted, text)]


def _rollout_errors(spec: LeaderWorkerSetSpec) -> list[FieldError]:
    rolling = spec.rolling
    if spec.wanted == 0 or max_unavailable(rolling, spec.wanted) or max_surge(rolling, spec.wanted):
        return []
    text = "must not be 0 when `maxSurge` is 0"
    return [FieldError.invalid(f"{ROLLING}.maxUnavailable", rolling.max_unavailable, text)]


def max_unavailable(rolling: RollingUpdateConfiguration, replicas: int) -> int:
    share = 1 if rolling.max_unavailable is None else rolling.max_unavailable
    return part_of(share, replicas, rounded_up=False)


def max_surge(rolling: RollingUpdateConfiguration, replicas: int) -> int:
    return min(replicas, part_of(rolling.max_surge or 0, replicas, rounded_up=True))


def _subgroup_errors(policy: SubGroupPolicy | None, size: int) -> list[FieldError]:
    part = policy.sub_group_size if policy is not None else None
    if policy is None or part is None:
        return []
    text = ""
    if part > size:
        text = "subGroupSize cannot be larger than size"
    elif policy.sub_group_policy_type == LEADER_EXCLUDED:
        if (size - 1) % part:
            text = f"size - 1 must be divisible by subGroupSize when the type is {LEADER_EXCLUDED}"
    elif size % part and (size - 1) % part:
        text = "size or size - 1 must be divisible by subGroupSize"
    return [FieldError.invalid(f"{TEMPLATE}.subGroupPolicy.subGroupSize", part, text)] if text else []


def _subgroup_update_errors(new: LeaderWorkerSet, old: LeaderWorkerSet) -> list[FieldError]:
    field = f"{TEMPLATE}.subGroupPolicy"
    policy = new.spec.leader_worker_template.sub_group_policy
    before = old.spec.leader_worker_template.sub_group_policy
    if (policy is None) != (before is None):
        text = "cannot be added or removed after creation"
        return [FieldError.invalid(field, policy, text)]
    if policy is not None and before is not None and policy.sub_group_size != before.sub_group_size:
        return [immutable(f"{field}.subGroupSize", policy.sub_group_size)]
    return []


def _network_update_errors(new: LeaderWorkerSet, old: LeaderWorkerSet) -> list[FieldError]:
    if old.spec.network_config is None or new.spec.network_config is not None:
        return []
    return [FieldError.required("spec.networkConfig", "cannot be removed once it is set")]


def _templates_errors(template: LeaderWorkerTemplate) -> list[FieldError]:
    errors = _pods_errors(f"{TEMPLATE}.workerTemplate", template.worker_template, template)
    if template.leader_template is not None:
        errors += _pods_errors(f"{TEMPLATE}.leaderTemplate", template.leader_template, template)
    return errors


def _pods_errors(field: str, template: PodTemplateSpec, whole: LeaderWorkerTemplate) -> list[FieldError]:
    filled: Json = msgspec.json.decode(msgspec.json.encode(template))
    default_pod(filled)
    judged = with_claims(decode(PodTemplateSpec, filled), whole.volume_claim_templates)
    return template_errors(field, judged) + endless_errors(f"{field}.spec", judged)


def _gang_errors(annotations: Mapping[str, str], template: LeaderWorkerTemplate) -> list[FieldError]:
    """Pods of one group have one priority, and only its provider puts them into it."""
    if provider_name(annotations, template.worker_template.spec.scheduler_name) != PROVIDERS[0]:
        return []
    errors = []
    templates = {"workerTemplate": template.worker_template, "leaderTemplate": template.leader_template}
    for name, part in templates.items():
        if part is not None and (part.spec.scheduling_group or part.spec.workload_ref):
            way_out = f"annotate {PROVIDER}: {NO_PROVIDER} to do it"
            text = f"pods are put into their group by the controller; {way_out}"
            errors.append(FieldError.forbidden(f"{TEMPLATE}.{name}.spec.schedulingGroup", text))
    priority = template.leader.spec.priority_class_name
    if priority != template.worker_template.spec.priority_class_name:
        text = "must be that of the workerTemplate: the pods of a replica are scheduled together"
        field = f"{TEMPLATE}.leaderTemplate.spec.priorityClassName"
        errors.append(FieldError.invalid(field, priority, text))
    return errors


def _child_name_errors(lws: LeaderWorkerSet) -> list[FieldError]:
    """Names of pods are hostnames, and those of revisions and groups are labels of pods."""
    spec, size = lws.spec, lws.spec.leader_worker_template.group_size
    last = max(0, spec.wanted + max_surge(spec.rolling, spec.wanted) - 1)
    room = LABEL_LENGTH_MAX - len(f"-{last}-") - max(HASH_LENGTH, len(str(size - 1)))
    if len(lws.metadata.name) <= room:
        return []
    text = f"must be no more than {room} characters: pods and revisions of replica {last} are called by it"
    return [FieldError.invalid("metadata.name", lws.metadata.name, text)]


RULES = KindRules(
    default_new=default_new,
    default=default,
    prepare_create=clear_status,
    validate=validate,
    validate_update=validate_update,
)


LEADER_WORKER_SET_COLUMNS = (
    NAME,
    PrintedColumn(
        "Ready", "integer", "Replicas that are ready.", 0, value_at("status", "readyReplicas", absent=0)
    ),
    PrintedColumn(
        "Desired", "integer", "Replicas there are to be.", 0, value_at("spec", "replicas", absent=0)
    ),
    PrintedColumn(
        "Up-to-date",
        "integer",
        "Replicas made from the newest templates.",
        0,
        value_at("status", "updatedReplicas", absent=0),
    ),
    AGE,
)

LEADER_WORKER_SET = Kind(
    name="LeaderWorkerSet",
    plural="leaderworkersets",
    group="leaderworkerset.x-k8s.io",
    struct=LeaderWorkerSet,
    rules=RULES,
    columns=LEADER_WORKER_SET_COLUMNS,
    short_names=("lws",),
    has_status=True,
    subresources=("scale",),
    scale_selector=selector_in_status,
)
