"""What a custom resource definition says beyond the shape of our kinds: required fields, formats, rules in CEL.

This is `posse.kinds` told to an API server that does not know it. Left out is what cannot be told, or costs the server
too much: that the names of templates are unique over the whole tree of a Workload.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from posse.kinds.machinery.checks import json_name
from posse.kinds.machinery.conditions import MESSAGE_BYTES_MAX, REASON_BYTES_MAX, STATUSES
from posse.kinds.machinery.formats import (
    CONDITION_REASON,
    DNS_LABEL,
    DNS_SUBDOMAIN,
    LABEL_LENGTH_MAX,
    SUBDOMAIN_LENGTH_MAX,
    WORD,
)
from posse.kinds.machinery.kind import Json
from posse.kinds.scheduling.composite_pod_groups import FIXED_SPEC_CHECKS as FIXED_IN_COMPOSITES
from posse.kinds.scheduling.group_fields import (
    FIXED_CHECKS,
    PREEMPTION_POLICIES,
    RESOURCE_CLAIMS_MAX,
    TOPOLOGY_CONSTRAINTS_MAX,
    USER_PRIORITY_MAX,
)
from posse.kinds.scheduling.pod_groups import FIXED_SPEC_CHECKS as FIXED_IN_GROUPS
from posse.kinds.scheduling.pod_groups import RESOURCE_CLAIM_STATUSES_MAX
from posse.kinds.scheduling.workloads import POD_GROUP_TEMPLATE_CHECKS, TEMPLATES_MAX
from posse.model import workload
from posse.model.meta import Condition, Shape, TypedLocalObjectReference


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition in CEL. `path` is the field that is to blame, seen from where the rule stands."""

    expression: str
    message: str
    path: str = ""
    reason: str = "FieldValueInvalid"

    def as_json(self) -> Json:
        place = {"fieldPath": self.path} if self.path else {}
        return {"rule": self.expression, "message": self.message, "reason": self.reason, **place}


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Of one struct. `fields` has further keywords for the schemas of its fields, by JSON name."""

    fields: Mapping[str, Json] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()


def _text(pattern: str, longest: int) -> Json:
    return {"pattern": f"^{pattern}$", "maxLength": longest}


_LABEL = _text(DNS_LABEL, LABEL_LENGTH_MAX)
_SUBDOMAIN = _text(DNS_SUBDOMAIN, SUBDOMAIN_LENGTH_MAX)
_EMPTY_OR_SUBDOMAIN = _text(f"({DNS_SUBDOMAIN})?", SUBDOMAIN_LENGTH_MAX)
# The name has a limit of its own: a first and a last character, and so many between them.
_SHORT_WORD = WORD.replace("*", f"{{0,{LABEL_LENGTH_MAX - 2}}}")
_LABEL_KEY = _text(f"({DNS_SUBDOMAIN}/)?{_SHORT_WORD}", SUBDOMAIN_LENGTH_MAX + 1 + LABEL_LENGTH_MAX)
# Neither "." nor "..".
_PATH_SEGMENT = _text(r"([^/%.][^/%]*|\.[^/%.][^/%]*|\.\.[^/%]+)", SUBDOMAIN_LENGTH_MAX)
_COUNT: Json = {"minimum": 1}
_TEMPLATES: Json = {
    "maxItems": TEMPLATES_MAX,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "x-kubernetes-validations": [
        Rule(
            "self.all(now, oldSelf.exists(before, before.name == now.name))",
            "item may not be added",
            reason="FieldValueForbidden",
        ).as_json(),
        Rule(
            "oldSelf.all(before, self.exists(now, now.name == before.name))",
            "item may not be removed",
            reason="FieldValueForbidden",
        ).as_json(),
    ],
}
_CLAIMS: Json = {
    "maxItems": RESOURCE_CLAIMS_MAX,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
}
# Nobody computes the one from the other in custom resources.
_NOT_LOOKED_UP = "For people to read. The priority is that of the pods, unless one is stated."
_PRIORITY = "Priority of the group; without one, that of its least important pod."
_OF_ALL_GROUPS: Mapping[str, Json] = {
    "priorityClassName": _EMPTY_OR_SUBDOMAIN | {"description": _NOT_LOOKED_UP},
    "priority": {"maximum": USER_PRIORITY_MAX, "description": _PRIORITY},
    "preemptionPolicy": {"enum": list(PREEMPTION_POLICIES)},
}
_OF_GROUP_OBJECTS: Mapping[str, Json] = {
    **_OF_ALL_GROUPS,
    "parentCompositePodGroupName": _SUBDOMAIN,
    "disruptionMode": {"default": {"single": {}}},
}


def _fixed(struct: type[Shape], attributes: Iterable[str]) -> tuple[Rule, ...]:
    names = [json_name(struct, attribute) for attribute in attributes]
    return tuple(
        Rule(
            f"has(self.{name}) == has(oldSelf.{name}) && (!has(self.{name}) || self.{name} == oldSelf.{name})",
            "field is immutable",
            f".{name}",
        )
        for name in names
    )


def _one_of(first: str, second: str) -> Rule:
    message = f"must specify exactly one of: `{first}`, `{second}`"
    return Rule(f"has(self.{first}) != has(self.{second})", message)


_ONE_POLICY_FOR_GOOD = (
    _one_of("basic", "gang"),
    Rule("has(self.basic) == has(oldSelf.basic)", "field is immutable", ".basic"),
    Rule("has(self.gang) || !has(oldSelf.gang)", "field cannot be cleared once set", ".gang"),
    Rule("!has(self.gang) || has(oldSelf.gang)", "field cannot be set once created", ".gang"),
)


def _filled(name: str) -> str:
    return f"(has(self.{name}) && size(self.{name}) > 0)"


_FLAT, _NESTED = "podGroupTemplates", "compositePodGroupTemplates"
_SAME_LISTS = tuple(
    Rule(f"{_filled(name)} == {_filled(name).replace('self', 'oldSelf')}", "field is immutable", f".{name}")
    for name in (_FLAT, _NESTED)
)


def _of_one_priority(name: str, other: str) -> Rule:
    """All templates in a list have the priority of `other`; from level to level that makes one for the whole tree."""
    same = " && ".join(
        f"has(each.{part}) == has({other}.{part}) && (!has(each.{part}) || each.{part} == {other}.{part})"
        for part in ("priority", "priorityClassName")
    )
    text = "all priority and priorityClassName values must be identical, detected multiple values"
    return Rule(f"!{_filled(name)} || self.{name}.all(each, {same})", text)


LIMITS: Mapping[type[Shape], SchemaLimits] = {
    workload.Workload: SchemaLimits(required=("spec",)),
    workload.PodGroup: SchemaLimits(
        required=("spec",),
        rules=(
            Rule(
                "!has(self.status) || !has(self.status.resourceClaimStatuses)"
                " || self.status.resourceClaimStatuses.all(status, has(self.spec.resourceClaims)"
                " && self.spec.resourceClaims.exists(claim, claim.name == status.name))",
                "must match the name of an entry in `spec.resourceClaims`",
                ".status.resourceClaimStatuses",
            ),
        ),
    ),
    workload.CompositePodGroup: SchemaLimits(required=("spec",)),
    workload.WorkloadSpec: SchemaLimits(
        fields={_FLAT: _TEMPLATES, _NESTED: _TEMPLATES},
        rules=(
            Rule(
                f"{_filled(_FLAT)} != {_filled(_NESTED)}",
                f"must specify exactly one of: `{_FLAT}`, `{_NESTED}`",
            ),
            *_fixed(workload.WorkloadSpec, ["controller_ref"]),
            *_SAME_LISTS,
            _of_one_priority(_FLAT, f"self.{_FLAT}[0]"),
            _of_one_priority(_NESTED, f"self.{_NESTED}[0]"),
        ),
    ),
    workload.PodGroupTemplate: SchemaLimits(
        fields={**_OF_ALL_GROUPS, "name": _LABEL, "resourceClaims": _CLAIMS},
        required=("name", "schedulingPolicy"),
        rules=_fixed(workload.PodGroupTemplate, POD_GROUP_TEMPLATE_CHECKS),
    ),
    workload.CompositePodGroupTemplate: SchemaLimits(
        fields={**_OF_ALL_GROUPS, "name": _LABEL, _FLAT: _TEMPLATES, _NESTED: _TEMPLATES},
        required=("name", "schedulingPolicy"),
        rules=(
            Rule(
                f"{_filled(_FLAT)} || {_filled(_NESTED)}",
                "must have at least one child PodGroupTemplate or CompositePodGroupTemplate",
            ),
            *_fixed(workload.CompositePodGroupTemplate, FIXED_CHECKS),
            *_SAME_LISTS,
            _of_one_priority(_FLAT, "self"),
            _of_one_priority(_NESTED, "self"),
        ),
    ),
    workload.PodGroupSpec: SchemaLimits(
        fields={**_OF_GROUP_OBJECTS, "resourceClaims": _CLAIMS},
        required=("schedulingPolicy",),
        rules=(
            Rule(
                "!has(self.parentCompositePodGroupName) || has(self.workloadRef)",
                "must be set when parentCompositePodGroupName is set",
                ".workloadRef",
                "FieldValueRequired",
            ),
            *_fixed(workload.PodGroupSpec, FIXED_IN_GROUPS),
        ),
    ),
    workload.CompositePodGroupSpec: SchemaLimits(
        fields=_OF_GROUP_OBJECTS,
        required=("schedulingPolicy", "workloadRef"),
        rules=_fixed(workload.CompositePodGroupSpec, FIXED_IN_COMPOSITES),
    ),
    workload.PodGroupSchedulingPolicy: SchemaLimits(rules=_ONE_POLICY_FOR_GOOD),
    workload.CompositePodGroupSchedulingPolicy: SchemaLimits(rules=_ONE_POLICY_FOR_GOOD),
    workload.BasicSchedulingPolicy: SchemaLimits(fields={"desiredCount": _COUNT}),
    workload.GangSchedulingPolicy: SchemaLimits(fields={"minCount": _COUNT}, required=("minCount",)),
    workload.CompositeGangSchedulingPolicy: SchemaLimits(
        fields={"minGroupCount": _COUNT}, required=("minGroupCount",)
    ),
    workload.SchedulingConstraints: SchemaLimits(
        fields={"topology": {"maxItems": TOPOLOGY_CONSTRAINTS_MAX, "x-kubernetes-list-type": "atomic"}}
    ),
    workload.TopologyConstraint: SchemaLimits(fields={"key": _LABEL_KEY}, required=("key",)),
    workload.DisruptionMode: SchemaLimits(rules=(_one_of("single", "all"),)),
    workload.PodGroupResourceClaim: SchemaLimits(
        fields={
            "name": _LABEL,
            "resourceClaimName": _SUBDOMAIN,
            "resourceClaimTemplateName": _SUBDOMAIN,
        },
        required=("name",),
        rules=(_one_of("resourceClaimName", "resourceClaimTemplateName"),),
    ),
    workload.WorkloadReference: SchemaLimits(
        fields={"workloadName": _SUBDOMAIN, "templateName": _LABEL},
        required=("workloadName", "templateName"),
    ),
    TypedLocalObjectReference: SchemaLimits(
        fields={"apiGroup": _EMPTY_OR_SUBDOMAIN, "kind": _PATH_SEGMENT, "name": _PATH_SEGMENT},
        required=("kind", "name"),
    ),
    workload.PodGroupStatus: SchemaLimits(
        fields={
            "resourceClaimStatuses": {
                "maxItems": RESOURCE_CLAIM_STATUSES_MAX,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            }
        }
    ),
    workload.PodGroupResourceClaimStatus: SchemaLimits(
        fields={"name": _LABEL, "resourceClaimName": _SUBDOMAIN}, required=("name",)
    ),
    Condition: SchemaLimits(
        fields={
            "type": _LABEL_KEY,
            "status": {"enum": list(STATUSES)},
            "observedGeneration": {"minimum": 0},
            "reason": _text(CONDITION_REASON, REASON_BYTES_MAX),
            "message": {"maxLength": MESSAGE_BYTES_MAX},
        },
        required=("type", "status", "lastTransitionTime", "reason"),
    ),
}
