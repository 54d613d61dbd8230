"""Rules for PodDisruptionBudget. Without either limit a budget is legal and allows nothing to be disrupted."""

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.machinery.checks import not_negative, one_of, share_errors
from posse.kinds.machinery.conditions import conditions_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind, KindRules, PrintedColumn, clear_status, keep_spec
from posse.kinds.machinery.label_selectors import label_selector_errors
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)

_eviction_policy = one_of("AlwaysAllow", "IfHealthyBudget")


def validate(budget: PodDisruptionBudget) -> list[FieldError]:
    return metadata_errors(budget.metadata, namespaced=True) + _spec_errors(budget.spec)


def validate_update(new: PodDisruptionBudget, old: PodDisruptionBudget) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec != old.spec:
        errors += _spec_errors(new.spec)
    if new.status != old.status:
        errors += _status_errors(new.status)
    return errors


def _spec_errors(spec: PodDisruptionBudgetSpec) -> list[FieldError]:
    errors = []
    if spec.min_available is not None and spec.max_unavailable is not None:
        text = "minAvailable and maxUnavailable cannot be both set"
        errors.append(FieldError.invalid("spec", spec, text))
    return [
        *errors,
        *share_errors("spec.minAvailable", spec.min_available),
        *share_errors("spec.maxUnavailable", spec.max_unavailable),
        *label_selector_errors("spec.selector", spec.selector),
        *_eviction_policy("spec.unhealthyPodEvictionPolicy", spec.unhealthy_pod_eviction_policy),
    ]


def _status_errors(status: PodDisruptionBudgetStatus) -> list[FieldError]:
    return [
        *conditions_errors("status.conditions", status.conditions),
        *not_negative("status.disruptionsAllowed", status.disruptions_allowed),
        *not_negative("status.currentHealthy", status.current_healthy),
        *not_negative("status.desiredHealthy", status.desired_healthy),
        *not_negative("status.expectedPods", status.expected_pods),
    ]


RULES = KindRules(
    prepare_create=clear_status,
    prepare_status_update=keep_spec,
    validate=validate,
    validate_update=validate_update,
)


POD_DISRUPTION_BUDGET_COLUMNS = (
    NAME,
    PrintedColumn(
        "Min Available", "string", "Pods that must stay.", 0, value_at("spec", "minAvailable", absent="N/A")
    ),
    PrintedColumn(
        "Max Unavailable", "string", "Pods that may go.", 0, value_at("spec", "maxUnavailable", absent="N/A")
    ),
    PrintedColumn(
        "Allowed Disruptions",
        "integer",
        "Pods that may be disrupted now.",
        0,
        value_at("status", "disruptionsAllowed", absent=0),
    ),
    AGE,
)

POD_DISRUPTION_BUDGET = Kind(
    name="PodDisruptionBudget",
    plural="poddisruptionbudgets",
    group="policy",
    struct=PodDisruptionBudget,
    rules=RULES,
    columns=POD_DISRUPTION_BUDGET_COLUMNS,
    short_names=("pdb",),
    has_status=True,
)
