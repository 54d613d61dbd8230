"""Rules for taints of devices and for DeviceTaintRule."""

from posse.kinds.columns import AGE, NAME, value_at
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.durations import since
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import fill_text, section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, clear_status, keep_status
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.device import DeviceTaintRule


def stamp_taint(taint: Json, now: str) -> None:
    """Tolerations count the seconds from then."""
    fill_text(taint, "timeAdded", now)


def stamp_rule(rule: Json, old: Json | None, now: str) -> None:
    """The time is that of the effect: a rule that gets another one begins again."""
    taint = section(section(rule, "spec"), "taint")
    before = old["spec"].get("taint", {}) if old is not None else taint
    if taint.get("effect") != before.get("effect") and taint.get("timeAdded") == before.get("timeAdded"):
        taint.pop("timeAdded", None)
    stamp_taint(taint, now)


def validate(rule: DeviceTaintRule) -> list[FieldError]:
    return metadata_errors(rule.metadata, namespaced=False) + declared_errors("spec", rule.spec)


def validate_update(new: DeviceTaintRule, old: DeviceTaintRule) -> list[FieldError]:
    return [
        *metadata_update_errors(new.metadata, old.metadata),
        *declared_errors("spec.deviceSelector", new.spec.device_selector),
        *declared_errors("spec.taint", new.spec.taint, old.spec.taint),
        *declared_errors("status", new.status, old.status),
    ]


def _time_added(rule: Json, now: float) -> str:
    added = ((rule.get("spec") or {}).get("taint") or {}).get("timeAdded")
    return since(added, now) if added else ""


DEVICE_TAINT_RULE = Kind(
    name="DeviceTaintRule",
    plural="devicetaintrules",
    group="resource.k8s.io",
    namespaced=False,
    struct=DeviceTaintRule,
    rules=KindRules(
        stamp=stamp_rule,
        prepare_create=clear_status,
        prepare_update=keep_status,
        validate=validate,
        validate_update=validate_update,
        allow_unconditional_update=False,
    ),
    columns=(
        NAME,
        PrintedColumn("Key", "string", "Key of the taint.", 0, value_at("spec", "taint", "key", absent="")),
        PrintedColumn("Value", "string", "Its value.", 0, value_at("spec", "taint", "value", absent="")),
        PrintedColumn("Effect", "string", "Its effect.", 0, value_at("spec", "taint", "effect", absent="")),
        PrintedColumn("TimeAdded", "string", "Time since it was added.", 0, _time_added),
        AGE,
    ),
    has_status=True,
)
