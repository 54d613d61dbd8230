"""Rules for Node: taints, amounts and conditions. Unlike other kinds a node brings its status along when it registers."""

from collections.abc import Sequence

from posse.kinds.core.placements import TAINT_EFFECTS
from posse.kinds.machinery.checks import formatted, required
from posse.kinds.machinery.conditions import core_conditions_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import section
from posse.kinds.machinery.formats import label_key, label_value
from posse.kinds.machinery.kind import Json, KindRules, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.machinery.quantities import amounts_errors
from posse.model.node import Node, NodeStatus, Taint


def default(obj: Json) -> None:
    status = section(obj, "status")
    capacity = status.get("capacity")
    if status.get("allocatable") is None and isinstance(capacity, dict):
        status["allocatable"] = dict(capacity)


def validate(node: Node) -> list[FieldError]:
    return [
        *metadata_errors(node.metadata, namespaced=False),
        *_taints_errors("spec.taints", node.spec.taints),
        *_status_errors(node.status, NodeStatus()),
    ]


def validate_update(new: Node, old: Node) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec.taints != old.spec.taints:
        errors += _taints_errors("spec.taints", new.spec.taints)
    if new.status != old.status:
        errors += _status_errors(new.status, old.status)
    return errors


def _taints_errors(field: str, taints: Sequence[Taint]) -> list[FieldError]:
    errors = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        path = f"{field}[{index}]"
        errors += required(f"{path}.key", taint.key, label_key)
        errors += formatted(f"{path}.value", taint.value, label_value)
        errors += _effect_errors(f"{path}.effect", taint.effect)
        if (taint.key, taint.effect) in seen:
            errors.append(FieldError.duplicate(path, taint))
        seen.add((taint.key, taint.effect))
    return errors


def _effect_errors(path: str, effect: str) -> list[FieldError]:
    if not effect:
        return [FieldError.required(path)]
    return [] if effect in TAINT_EFFECTS else [FieldError.not_supported(path, effect, TAINT_EFFECTS)]


def _status_errors(new: NodeStatus, old: NodeStatus) -> list[FieldError]:
    return [
        *amounts_errors("status.capacity", new.capacity),
        *amounts_errors("status.allocatable", new.allocatable),
        *core_conditions_errors("status.conditions", new.conditions, old.conditions),
    ]


RULES = KindRules(
    default=default,
    prepare_status_update=keep_spec,
    validate=validate,
    validate_update=validate_update,
)
