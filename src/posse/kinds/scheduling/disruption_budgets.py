"""Rules for PodDisruptionBudget.

Without either limit a budget is legal and allows nothing to be disrupted.
"""

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind, KindRules, PrintedColumn, clear_status, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.disruption_budget import PodDisruptionBudget


def validate(budget: PodDisruptionBudget) -> list[FieldError]:
    return metadata_errors(budget.metadata, namespaced=True) + declared_errors("spec", budget.spec)


def validate_update(new: PodDisruptionBudget, old: PodDisruptionBudget) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec != old.spec:
        errors += declared_errors("spec", new.spec)
    if new.status != old.status:
        errors += declared_errors("status", new.status)
    return errors


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
