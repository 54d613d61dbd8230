"""Rules for Deployment and ReplicaSet: what is filled in, what is refused, what may change."""

import re
from collections.abc import Callable

from posse.kinds.batch.job_columns import CONTAINER_COLUMNS
from posse.kinds.batch.stateful_sets import endless_errors
from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.core.pod_defaults import default_pod
from posse.kinds.core.pod_templates import selection_errors, template_errors
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill, fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, clear_status, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.machinery.scaling import selector_of
from posse.model.deployment import (
    GANG,
    GANG_OF_ALL,
    RECREATE,
    Deployment,
    DeploymentSpec,
    DeploymentStrategy,
    ReplicaSet,
    ReplicaSetSpec,
)
from posse.model.meta import LabelSelector
from posse.model.shares import part_of
from posse.model.stateful_set import ROLLING_UPDATE

REVISION_HISTORY_LIMIT = 10
PROGRESS_DEADLINE_SECONDS = 600
QUARTER = "25%"
_COUNT = re.compile("[1-9][0-9]{0,9}")


def default_replica_set(obj: Json) -> None:
    spec = section(obj, "spec")
    fill(spec, "replicas", 1)
    default_pod(section(spec, "template"))


def default_deployment(obj: Json) -> None:
    default_replica_set(obj)
    spec = section(obj, "spec")
    fill(spec, "revisionHistoryLimit", REVISION_HISTORY_LIMIT)
    fill(spec, "progressDeadlineSeconds", PROGRESS_DEADLINE_SECONDS)
    strategy = section(spec, "strategy")
    fill_text(strategy, "type", ROLLING_UPDATE)
    if strategy.get("type") == ROLLING_UPDATE:
        rolling = section(strategy, "rollingUpdate")
        fill(rolling, "maxUnavailable", QUARTER)
        fill(rolling, "maxSurge", QUARTER)


def validate(obj: Deployment | ReplicaSet) -> list[FieldError]:
    return metadata_errors(obj.metadata, namespaced=True) + _spec_errors(obj.spec)


def validate_update(new: Deployment | ReplicaSet, old: Deployment | ReplicaSet) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec != old.spec:
        errors += _spec_errors(new.spec, old.spec)
    return errors if new.status == old.status else errors + declared_errors("status", new.status)


def _spec_errors(
    spec: DeploymentSpec | ReplicaSetSpec, old: DeploymentSpec | ReplicaSetSpec | None = None
) -> list[FieldError]:
    errors = declared_errors("spec", spec, old) + _selector_errors(spec)
    errors += template_errors("spec.template", spec.template)
    errors += endless_errors("spec.template.spec", spec.template) + _gang_errors(spec)
    return errors + _update_errors(spec) if isinstance(spec, DeploymentSpec) else errors


def _selector_errors(spec: DeploymentSpec | ReplicaSetSpec) -> list[FieldError]:
    if spec.selector == LabelSelector():
        text = "empty selector is invalid for deployment"
        return [FieldError.invalid("spec.selector", spec.selector, text)]
    return selection_errors(spec.selector, spec.template.metadata.labels)


def _gang_errors(spec: DeploymentSpec | ReplicaSetSpec) -> list[FieldError]:
    asked = spec.template.metadata.annotations.get(GANG)
    if asked is None:
        return []
    field, pod = f"spec.template.metadata.annotations[{GANG}]", spec.template.spec
    if pod.scheduling_group is not None or pod.workload_ref is not None:
        return [FieldError.forbidden(field, "may not be set for pods that name a group themselves")]
    if asked == GANG_OF_ALL or _COUNT.fullmatch(asked):
        return []
    return [FieldError.invalid(field, asked, f"must be '{GANG_OF_ALL}' or a number of pods, at least 1")]


def _update_errors(spec: DeploymentSpec) -> list[FieldError]:
    errors = _strategy_errors("spec.strategy", spec.strategy)
    deadline = spec.progress_deadline_seconds
    if deadline is not None and deadline <= spec.min_ready_seconds:
        text = "must be greater than minReadySeconds"
        errors.append(FieldError.invalid("spec.progressDeadlineSeconds", deadline, text))
    return errors


def _strategy_errors(field: str, strategy: DeploymentStrategy) -> list[FieldError]:
    rolling = strategy.rolling_update
    if rolling is None:
        return []
    if strategy.type == RECREATE:
        text = f"may not be specified when strategy `type` is '{RECREATE}'"
        return [FieldError.forbidden(f"{field}.rollingUpdate", text)]
    surge = part_of(rolling.max_surge or 0, 100, rounded_up=True)
    if not surge and not part_of(rolling.max_unavailable or 0, 100, rounded_up=True):
        text = "may not be 0 when `maxSurge` is 0"
        return [FieldError.invalid(f"{field}.rollingUpdate.maxUnavailable", rolling.max_unavailable, text)]
    return []


def _rules(default: Callable[[Json], None]) -> KindRules:
    return KindRules(
        default=default,
        prepare_create=clear_status,
        prepare_status_update=keep_spec,
        validate=validate,
        validate_update=validate_update,
    )


def _ready_of_wanted(obj: Json, _now: float) -> str:
    ready = (obj.get("status") or {}).get("readyReplicas") or 0
    return f"{ready}/{(obj.get('spec') or {}).get('replicas') or 0}"


def _selector(obj: Json, _now: float) -> str:
    return selector_of(obj)


def _count(name: str, description: str, *path: str) -> PrintedColumn:
    return PrintedColumn(name, "integer", description, 0, value_at(*path, absent=0))


_SELECTOR_COLUMN = PrintedColumn("Selector", "string", "Labels of its pods.", 1, _selector)
DEPLOYMENT_COLUMNS = (
    NAME,
    PrintedColumn("Ready", "string", "Pods that are ready, of how many.", 0, _ready_of_wanted),
    _count("Up-to-date", "Pods made from the newest template.", "status", "updatedReplicas"),
    _count("Available", "Pods that have been ready long enough.", "status", "availableReplicas"),
    AGE,
    *CONTAINER_COLUMNS,
    _SELECTOR_COLUMN,
)
REPLICA_SET_COLUMNS = (
    NAME,
    _count("Desired", "Pods that are wanted.", "spec", "replicas"),
    _count("Current", "Pods that there are.", "status", "replicas"),
    _count("Ready", "Pods that are ready.", "status", "readyReplicas"),
    AGE,
    *CONTAINER_COLUMNS,
    _SELECTOR_COLUMN,
)

DEPLOYMENT = Kind(
    name="Deployment",
    plural="deployments",
    group="apps",
    struct=Deployment,
    rules=_rules(default_deployment),
    columns=DEPLOYMENT_COLUMNS,
    short_names=("deploy",),
    categories=("all",),
    has_status=True,
    subresources=("scale",),
    scale_selector=selector_of,
)
REPLICA_SET = Kind(
    name="ReplicaSet",
    plural="replicasets",
    group="apps",
    struct=ReplicaSet,
    rules=_rules(default_replica_set),
    columns=REPLICA_SET_COLUMNS,
    short_names=("rs",),
    categories=("all",),
    has_status=True,
    subresources=("scale",),
    scale_selector=selector_of,
    selectable_fields=("status.replicas",),
    absent_fields={"status.replicas": "0"},
)
