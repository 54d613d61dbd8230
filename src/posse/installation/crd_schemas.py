"""The schema of a kind as a CRD needs it: without references, with limits and rules inline.

Shapes follow from the structs, and what is refused from the constraints on their fields (`crd_rules`). A
definition may not refer to itself, so the tree of templates in a Workload is written out as deep as it may
be.
"""

from collections.abc import Mapping

from posse.engine.groups.forms import POSSE_LABEL
from posse.installation.crd_rules import keywords, required_fields, rules_of
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.schemas import is_int_or_string, schemas_of
from posse.model.constraints import OPAQUE, MaxDepth
from posse.model.formats import LABEL_LENGTH_MAX
from posse.model.jobset import GANG, GANG_OFF, REPLICATED_GANG, GangConfig, JobSetSpec, ReplicatedJob
from posse.model.leader_worker_set import LeaderWorkerSetSpec, LeaderWorkerTemplate
from posse.model.meta import Shape
from posse.model.structure import FieldShape, fields_of
from posse.model.workload import CompositePodGroupSpec, PodGroup, PodGroupSpec

# The API server validates these. Of metadata, a CRD may restrict the name only.
_TEXT: Json = {"type": "string"}
_OF_EVERY_OBJECT: Json = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object"}}
_NAMED_BY_LABEL: Json = {"type": "object", "properties": {"name": _TEXT | {"maxLength": LABEL_LENGTH_MAX}}}
_ANYTHING: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
# Keywords of schemas that are of use to patches only, or that a definition replaces.
_DROPPED = {"allOf", "$ref", "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy"}
# In custom resources nothing computes the priority from the class.
_DESCRIPTIONS = {
    "priorityClassName": "For people to read. The priority is that of the pods, unless one is stated.",
    "priority": "Priority of the group; without one, that of its least important pod.",
}
# Defaults, and what the API server must know before it fills them in or estimates the cost of rules.
_STATED: Mapping[tuple[type[Shape], str], Json] = {
    (PodGroupSpec, "disruptionMode"): {"default": {"single": {}}},
    (CompositePodGroupSpec, "disruptionMode"): {"default": {"single": {}}},
    (JobSetSpec, "replicatedJobs"): {"maxItems": 1000},
    (ReplicatedJob, "name"): {"maxLength": LABEL_LENGTH_MAX},
    (GangConfig, "gangMode"): {"enum": [GANG_OFF, GANG, REPLICATED_GANG]},
    # Without a number there is nothing that the subresource scale could change.
    (LeaderWorkerSetSpec, "replicas"): {"default": 1},
    (LeaderWorkerTemplate, "size"): {"default": 1},
}


def structural_schema(kind: Kind, version: str) -> Json:
    schemas = {name.rpartition(".")[2]: schema for name, schema in schemas_of([kind], version).items()}
    schema = _struct_schema(schemas, kind.struct, 0)
    del schema["x-kubernetes-group-version-kind"]
    schema["properties"] |= _OF_EVERY_OBJECT
    if kind.struct is PodGroup:
        schema["description"] = (
            f"A set of pods that the scheduler places as one. Pods join by the label {POSSE_LABEL}."
        )
        schema["properties"]["metadata"] = _NAMED_BY_LABEL
    return schema


def _struct_schema(schemas: Mapping[str, Json], struct: type[Shape], levels: int) -> Json:
    """`levels` is the number of enclosing composite templates."""
    schema = dict(schemas[struct.__name__])
    members, shapes = schema.pop("properties"), fields_of(struct)
    if members:
        schema["properties"] = {
            name: _field_schema(schemas, member, shapes[name], levels) | _stated(struct, name)
            for name, member in members.items()
        }
    if required := required_fields(struct):
        schema["required"] = required
    if rules := rules_of(struct):
        schema["x-kubernetes-validations"] = rules
    return schema


def _stated(struct: type[Shape], name: str) -> Json:
    result: Json = {"description": _DESCRIPTIONS[name]} if name in _DESCRIPTIONS else {}
    return result | _STATED.get((struct, name), {})


def _field_schema(schemas: Mapping[str, Json], member: Json, shape: FieldShape, levels: int) -> Json:
    schema = {key: value for key, value in member.items() if key not in _DROPPED}
    deepest = shape.constraint(MaxDepth)
    if OPAQUE in shape.constraints:
        return schema | ({"items": _ANYTHING} if shape.holds == "list" else _ANYTHING)
    if is_int_or_string(member):
        return schema | {"x-kubernetes-int-or-string": True}
    if shape.struct is None:
        return schema | keywords(shape)
    if deepest is not None and levels == deepest.value:
        # Composite templates would be too deep in the tree here; the list is there, and empty.
        return schema | {"maxItems": 0, "items": _plain_schema(schemas, shape.struct)}
    inner = _struct_schema(schemas, shape.struct, levels + (deepest is not None))
    return (schema | {"items": inner} if shape.holds == "list" else inner | schema) | keywords(shape)


def _plain_schema(schemas: Mapping[str, Json], struct: type[Shape]) -> Json:
    """Only the fields that enclosing rules mention; such objects are invalid anyway."""
    fields = {
        name: dict(member) | keywords(fields_of(struct)[name]) | _stated(struct, name)
        for name, member in schemas[struct.__name__]["properties"].items()
        if member.get("type") in {"string", "integer"}
    }
    return _ANYTHING | {"properties": fields}
