"""Rules for PriorityClass, and the two classes every cluster has. That one class at most is the default is
admission's.
"""

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill_text
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.priority_class import PriorityClass

USER_PRIORITY_MAX = 1_000_000_000
SYSTEM_PREFIX = "system-"
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def default(obj: Json) -> None:
    fill_text(obj, "preemptionPolicy", "PreemptLowerPriority")


def validate(priority_class: PriorityClass) -> list[FieldError]:
    errors = metadata_errors(priority_class.metadata, namespaced=False)
    name = priority_class.metadata.name
    if name.startswith(SYSTEM_PREFIX):
        if reason := _unlike_system_class(priority_class):
            reserved = f"priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only"
            text = f"{reserved}. error: {reason}"
            errors.append(FieldError.forbidden("metadata.name", text))
    elif priority_class.value > USER_PRIORITY_MAX:
        text = f"maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}"
        errors.append(FieldError.forbidden("value", text))
    return errors + declared_errors("", priority_class)


def validate_update(new: PriorityClass, old: PriorityClass) -> list[FieldError]:
    return metadata_update_errors(new.metadata, old.metadata) + declared_errors("", new, old)


def _unlike_system_class(priority_class: PriorityClass) -> str:
    name = priority_class.metadata.name
    value = SYSTEM_CLASSES.get(name)
    if value is None:
        return f"{name} is not a known system priority class"
    if priority_class.value != value:
        return f"value of {name} PriorityClass must be {value}"
    return f"globalDefault of {name} PriorityClass must be false" if priority_class.global_default else ""


RULES = KindRules(default=default, validate=validate, validate_update=validate_update)


PRIORITY_CLASS_COLUMNS = (
    NAME,
    PrintedColumn(
        "Value", "integer", "Priority of pods and groups of this class.", 0, value_at("value", absent=0)
    ),
    PrintedColumn(
        "Global-Default", "boolean", "Whether others get it.", 0, value_at("globalDefault", absent=False)
    ),
    AGE,
    PrintedColumn(
        "PreemptionPolicy", "string", "Whether it may evict.", 0, value_at("preemptionPolicy", absent="")
    ),
)

PRIORITY_CLASS = Kind(
    name="PriorityClass",
    plural="priorityclasses",
    group="scheduling.k8s.io",
    namespaced=False,
    struct=PriorityClass,
    rules=RULES,
    columns=PRIORITY_CLASS_COLUMNS,
    short_names=("pc",),
)
