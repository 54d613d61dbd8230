"""Rules for StatefulSet and ControllerRevision: what is filled in, what is refused, what may change."""

from collections.abc import Sequence

import msgspec

from posse.kinds.batch.job_columns import CONTAINER_COLUMNS
from posse.kinds.columns import AGE, NAME, NONE, value_at
from posse.kinds.core.pod_defaults import default_pod
from posse.kinds.core.pod_templates import selection_errors, template_errors, with_claims
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import entries, fill, fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, clear_status, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.machinery.scaling import selector_of
from posse.kinds.storage.volumes import default_claim
from posse.model.meta import LabelSelector
from posse.model.pod import PodTemplateSpec
from posse.model.stateful_set import (
    ORDERED_READY,
    RETAIN,
    ROLLING_UPDATE,
    ControllerRevision,
    StatefulSet,
    StatefulSetSpec,
    StatefulSetStatus,
    StatefulSetUpdateStrategy,
)
from posse.model.volume import PersistentVolumeClaim

REVISION_HISTORY_LIMIT = 10
CHANGEABLE = (
    "replicas",
    "ordinals",
    "template",
    "update_strategy",
    "revision_history_limit",
    "persistent_volume_claim_retention_policy",
    "min_ready_seconds",
)
CHANGE_TEXT = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def default(obj: Json) -> None:
    spec = section(obj, "spec")
    fill(spec, "replicas", 1)
    fill_text(spec, "podManagementPolicy", ORDERED_READY)
    fill(spec, "revisionHistoryLimit", REVISION_HISTORY_LIMIT)
    strategy = section(spec, "updateStrategy")
    fill_text(strategy, "type", ROLLING_UPDATE)
    if strategy.get("type") == ROLLING_UPDATE:
        rolling = section(strategy, "rollingUpdate")
        fill(rolling, "partition", 0)
        fill(rolling, "maxUnavailable", 1)
    retention = section(spec, "persistentVolumeClaimRetentionPolicy")
    fill_text(retention, "whenDeleted", RETAIN)
    fill_text(retention, "whenScaled", RETAIN)
    default_pod(section(spec, "template"))
    for claim in entries(spec, "volumeClaimTemplates"):
        default_claim(claim)


def validate(stateful_set: StatefulSet) -> list[FieldError]:
    return metadata_errors(stateful_set.metadata, namespaced=True) + _spec_errors(stateful_set.spec)


def validate_update(new: StatefulSet, old: StatefulSet) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec != old.spec:
        errors += _spec_errors(new.spec) + _spec_update_errors(new.spec, old.spec)
    return errors if new.status == old.status else errors + _status_errors(new.status)


def _spec_errors(spec: StatefulSetSpec) -> list[FieldError]:
    return [
        *declared_errors("spec", spec),
        *_strategy_errors("spec.updateStrategy.rollingUpdate", spec.update_strategy),
        *_selector_errors(spec.selector, spec.template),
        *template_errors("spec.template", with_claims(spec.template, spec.volume_claim_templates)),
        *endless_errors("spec.template.spec", spec.template),
        *claims_errors("spec.volumeClaimTemplates", spec.volume_claim_templates),
    ]


def _strategy_errors(field: str, strategy: StatefulSetUpdateStrategy) -> list[FieldError]:
    rolling = strategy.rolling_update
    if rolling is None:
        return []
    if strategy.type != ROLLING_UPDATE:
        text = f"only allowed for updateStrategy '{ROLLING_UPDATE}'"
        return [FieldError.invalid(field, rolling, text)]
    if rolling.max_unavailable in (0, "0%"):
        return [FieldError.invalid(f"{field}.maxUnavailable", rolling.max_unavailable, "cannot be 0")]
    return []


def _selector_errors(selector: LabelSelector | None, template: PodTemplateSpec) -> list[FieldError]:
    if selector == LabelSelector():
        text = "empty selector is invalid for statefulset"
        return [FieldError.invalid("spec.selector", selector, text)]
    return selection_errors(selector, template.metadata.labels)


def endless_errors(field: str, template: PodTemplateSpec) -> list[FieldError]:
    """The pods of a set are not meant to end."""
    errors = []
    if template.spec.restart_policy != "Always":
        policy = template.spec.restart_policy
        errors.append(FieldError.not_supported(f"{field}.restartPolicy", policy, ("Always",)))
    if template.spec.active_deadline_seconds is not None:
        text = "activeDeadlineSeconds in StatefulSet is not Supported"
        errors.append(FieldError.forbidden(f"{field}.activeDeadlineSeconds", text))
    return errors


def claims_errors(field: str, claims: Sequence[PersistentVolumeClaim]) -> list[FieldError]:
    errors = []
    for index, claim in enumerate(claims):
        if not claim.metadata.name:
            errors.append(FieldError.required(f"{field}[{index}].metadata.name"))
        errors += declared_errors(f"{field}[{index}].spec", claim.spec)
    return errors


def _spec_update_errors(new: StatefulSetSpec, old: StatefulSetSpec) -> list[FieldError]:
    allowed = {name: getattr(new, name) for name in CHANGEABLE}
    if msgspec.structs.replace(old, **allowed) == new:
        return []
    return [FieldError.forbidden("spec", CHANGE_TEXT)]


def _status_errors(status: StatefulSetStatus) -> list[FieldError]:
    counts = {
        "readyReplicas": status.ready_replicas,
        "currentReplicas": status.current_replicas,
        "updatedReplicas": status.updated_replicas,
        "availableReplicas": status.available_replicas,
    }
    return declared_errors("status", status) + [
        FieldError.invalid(f"status.{name}", count, "cannot be greater than status.replicas")
        for name, count in counts.items()
        if count > status.replicas
    ]


def validate_revision(revision: ControllerRevision) -> list[FieldError]:
    return metadata_errors(revision.metadata, namespaced=True) + declared_errors("", revision)


def validate_revision_update(new: ControllerRevision, old: ControllerRevision) -> list[FieldError]:
    return metadata_update_errors(new.metadata, old.metadata) + declared_errors("", new, old)


RULES = KindRules(
    default=default,
    prepare_create=clear_status,
    prepare_status_update=keep_spec,
    validate=validate,
    validate_update=validate_update,
)
REVISION_RULES = KindRules(validate=validate_revision, validate_update=validate_revision_update)


def _ready_of_wanted(obj: Json, _now: float) -> str:
    ready = (obj.get("status") or {}).get("readyReplicas") or 0
    return f"{ready}/{(obj.get('spec') or {}).get('replicas') or 0}"


STATEFUL_SET_COLUMNS = (
    NAME,
    PrintedColumn("Ready", "string", "Pods that are ready, of how many.", 0, _ready_of_wanted),
    AGE,
    *CONTAINER_COLUMNS,
)


def _controller(obj: Json, _now: float) -> str:
    owners = obj["metadata"].get("ownerReferences") or []
    controllers = [owner for owner in owners if owner.get("controller")]
    return f"{str(controllers[0]['kind']).lower()}/{controllers[0]['name']}" if controllers else NONE


CONTROLLER_REVISION_COLUMNS = (
    NAME,
    PrintedColumn("Controller", "string", "What was made from it.", 0, _controller),
    PrintedColumn(
        "Revision", "integer", "Its number; the newest has the highest.", 0, value_at("revision", absent=0)
    ),
    AGE,
)

STATEFUL_SET = Kind(
    name="StatefulSet",
    plural="statefulsets",
    group="apps",
    struct=StatefulSet,
    rules=RULES,
    columns=STATEFUL_SET_COLUMNS,
    short_names=("sts",),
    categories=("all",),
    has_status=True,
    subresources=("scale",),
    scale_selector=selector_of,
)

CONTROLLER_REVISION = Kind(
    name="ControllerRevision",
    plural="controllerrevisions",
    group="apps",
    struct=ControllerRevision,
    rules=REVISION_RULES,
    columns=CONTROLLER_REVISION_COLUMNS,
)
