"""Constraints of our kinds in their CRDs, beyond field types: schema keywords and rules in CEL.

Nearly all of it follows from the constraints on the fields. Stated here is what concerns several fields. Left
out is what costs the API server too much: that names are unique over the whole tree of a Workload.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posse.kinds.machinery.kind import Json
from posse.model.constraints import (
    ATOMIC,
    FIXED_CHOICE,
    FIXED_KEYS,
    PRESENT,
    SET_AT_CREATION,
    Constraint,
    Immutable,
    KeyedBy,
    MaxBytes,
    Required,
    UnionMember,
)
from posse.model.formats import Format
from posse.model.jobset import REPLICATED_GANG, JobSetSpec
from posse.model.meta import Shape
from posse.model.structure import FieldShape, fields_of
from posse.model.workload import CompositePodGroupTemplate, PodGroup, PodGroupSpec, WorkloadSpec


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition in CEL. `path` is the invalid field, relative to the rule."""

    expression: str
    message: str
    path: str = ""
    reason: str = "FieldValueInvalid"

    def as_json(self) -> Json:
        place = {"fieldPath": self.path} if self.path else {}
        return {"rule": self.expression, "message": self.message, "reason": self.reason, **place}


_ITEM_RULES = tuple(
    Rule(expression, message, reason="FieldValueForbidden").as_json()
    for expression, message in (
        ("self.all(now, oldSelf.exists(before, before.name == now.name))", "item may not be added"),
        ("oldSelf.all(before, self.exists(now, now.name == before.name))", "item may not be removed"),
    )
)


def required_fields(struct: type[Shape]) -> list[str]:
    return [name for name, shape in fields_of(struct).items() if _is_required(shape)]


def _is_required(shape: FieldShape) -> bool:
    stated = shape.constraint(Required)
    return PRESENT in shape.constraints or (stated is not None and not stated.is_defaulted)


def keywords(shape: FieldShape) -> Json:
    """The keywords that the constraints on a field add to its OpenAPI schema, which has the limits."""
    result: Json = {}
    for constraint in shape.constraints:
        result |= _keywords_of(shape, constraint)
    if (keyed := shape.constraint(KeyedBy)) or shape.merge_key:
        key = keyed.key if keyed else shape.merge_key
        result |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}
    return result


def _keywords_of(shape: FieldShape, constraint: Constraint) -> Json:
    result: Json = {}
    match constraint:
        case Format(pattern=pattern, max_length=longest):
            may_be_empty = not shape.may_be_none and not _is_required(shape)
            result = {"pattern": f"^({pattern})?$" if may_be_empty else f"^{pattern}$"}
            result |= {"maxLength": longest} if longest else {}
        case MaxBytes(most):
            result = {"maxLength": most}
        case _ if constraint is ATOMIC:
            result = {"x-kubernetes-list-type": "atomic"}
        case _ if constraint is FIXED_KEYS:
            result = {"x-kubernetes-validations": list(_ITEM_RULES)}
    return result


def rules_of(struct: type[Shape]) -> list[Json]:
    """The rules of a struct: first those that follow from its fields, then its own."""
    return [rule.as_json() for rule in (*_declared_rules(struct), *_OWN_RULES.get(struct, ()))]


def _declared_rules(struct: type[Shape]) -> Iterator[Rule]:
    shapes = fields_of(struct)
    members = {name: shape for name, shape in shapes.items() if shape.constraint(UnionMember)}
    if members:
        names = ", ".join(f"`{name}`" for name in members)
        is_set = [_filled(name) if shape.holds == "list" else _has(name) for name, shape in members.items()]
        yield Rule(" != ".join(is_set), f"must specify exactly one of: {names}")
    for name, shape in shapes.items():
        if shape.constraint(Immutable):
            yield Rule(fixed(name), "field is immutable", f".{name}")
        for constraint in shape.constraints:
            if constraint is FIXED_CHOICE:
                yield Rule(f"{_has(name)} == {_had(name)}", "field is immutable", f".{name}")
            elif constraint is SET_AT_CREATION:
                text = "field cannot be {} once {}".format
                yield Rule(f"{_has(name)} || !{_had(name)}", text("cleared", "set"), f".{name}")
                yield Rule(f"!{_has(name)} || {_had(name)}", text("set", "created"), f".{name}")
            elif constraint is FIXED_KEYS:
                before = _filled(name).replace("self", "oldSelf")
                yield Rule(f"{_filled(name)} == {before}", "field is immutable", f".{name}")


def _has(name: str) -> str:
    return f"has(self.{name})"


def _had(name: str) -> str:
    return f"has(oldSelf.{name})"


def _filled(name: str) -> str:
    return f"({_has(name)} && size(self.{name}) > 0)"


def fixed(name: str) -> str:
    return f"{_has(name)} == {_had(name)} && (!{_has(name)} || self.{name} == oldSelf.{name})"


def _of_one_priority(name: str, other: str) -> Rule:
    """All templates in a list have the priority of `other`; level by level, so does the whole tree."""
    same = " && ".join(
        f"has(each.{part}) == has({other}.{part}) && (!has(each.{part}) || each.{part} == {other}.{part})"
        for part in ("priority", "priorityClassName")
    )
    text = "all priority and priorityClassName values must be identical, detected multiple values"
    return Rule(f"!{_filled(name)} || self.{name}.all(each, {same})", text)


_FLAT, _NESTED = "podGroupTemplates", "compositePodGroupTemplates"
_OWN_RULES: Mapping[type[Shape], tuple[Rule, ...]] = {
    PodGroup: (
        Rule(
            "!has(self.status) || !has(self.status.resourceClaimStatuses)"
            " || self.status.resourceClaimStatuses.all(status, has(self.spec.resourceClaims)"
            " && self.spec.resourceClaims.exists(claim, claim.name == status.name))",
            "must match the name of an entry in `spec.resourceClaims`",
            ".status.resourceClaimStatuses",
        ),
    ),
    PodGroupSpec: (
        Rule(
            "!has(self.parentCompositePodGroupName) || has(self.workloadRef)",
            "must be set when parentCompositePodGroupName is set",
            ".workloadRef",
            "FieldValueRequired",
        ),
    ),
    JobSetSpec: (
        Rule(
            "!has(self.gangConfig) || !has(self.gangConfig.gangMode)"
            f" || self.gangConfig.gangMode != '{REPLICATED_GANG}'",
            f"{REPLICATED_GANG} is for replicatedJobs",
            ".gangConfig",
        ),
    ),
    WorkloadSpec: (
        _of_one_priority(_FLAT, f"self.{_FLAT}[0]"),
        _of_one_priority(_NESTED, f"self.{_NESTED}[0]"),
    ),
    CompositePodGroupTemplate: (
        Rule(
            f"{_filled(_FLAT)} || {_filled(_NESTED)}",
            "must have at least one child PodGroupTemplate or CompositePodGroupTemplate",
        ),
        _of_one_priority(_FLAT, "self"),
        _of_one_priority(_NESTED, "self"),
    ),
}
