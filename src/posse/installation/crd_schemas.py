"""The schema of a kind in one piece, as a custom resource definition needs it: no references, limits and rules within.

Shapes follow from the structs, what is refused from `crd_limits`. A definition may not refer to itself, so the tree of
templates in a Workload is written out as deep as it may be.
"""

from collections.abc import Mapping

from posse.engine.groups.forms import POSSE_LABEL
from posse.installation.crd_limits import LIMITS, SchemaLimits
from posse.kinds.machinery.formats import LABEL_LENGTH_MAX
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.schemas import REFERENCE, schemas_of
from posse.kinds.scheduling.workloads import TREE_DEPTH_MAX
from posse.model.workload import CompositePodGroupTemplate, PodGroup

# The lowest level of a tree has no composite templates.
_COMPOSITE_LEVELS_MAX = TREE_DEPTH_MAX - 1
_RECURSIVE = CompositePodGroupTemplate.__name__
_LIMITS = {struct.__name__: limits for struct, limits in LIMITS.items()}
# The API server knows these better. Of metadata a definition may limit the name only.
_TEXT: Json = {"type": "string"}
_OF_EVERY_OBJECT: Json = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object"}}
_NAMED_BY_LABEL: Json = {"type": "object", "properties": {"name": _TEXT | {"maxLength": LABEL_LENGTH_MAX}}}
_MERGE_KEY, _MERGE_STRATEGY = "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy"


def structural_schema(kind: Kind, version: str) -> Json:
    schemas = {name.rpartition(".")[2]: schema for name, schema in schemas_of([kind], version).items()}
    schema = _struct_schema(schemas, kind.name, 0)
    del schema["x-kubernetes-group-version-kind"]
    schema["properties"] |= _OF_EVERY_OBJECT
    if kind.struct is PodGroup:
        schema["description"] = (
            f"A set of pods that the scheduler places as one. Pods join by the label {POSSE_LABEL}."
        )
        schema["properties"]["metadata"] = _NAMED_BY_LABEL
    return schema


def _struct_schema(schemas: Mapping[str, Json], name: str, levels: int) -> Json:
    """`levels` is how many composite templates are around it."""
    levels += name == _RECURSIVE
    limits = _LIMITS.get(name, SchemaLimits())
    schema = dict(schemas[name])
    members = schema.pop("properties")
    if members:
        schema["properties"] = {
            field: _field_schema(schemas, member, levels) | _keywords(limits, field, member, levels)
            for field, member in members.items()
        }
    if limits.required:
        schema["required"] = list(limits.required)
    if limits.rules:
        schema["x-kubernetes-validations"] = [rule.as_json() for rule in limits.rules]
    return schema


def _field_schema(schemas: Mapping[str, Json], member: Json, levels: int) -> Json:
    schema = {key: value for key, value in member.items() if key not in {"allOf", "$ref"}}
    if name := _referred(member):
        return _struct_schema(schemas, name, levels) | schema
    if schema["type"] != "array":
        return schema
    if _ends_here(member, levels):
        return schema | {"items": _plain_schema(schemas, _RECURSIVE)}
    key = schema.pop(_MERGE_KEY, "")
    schema.pop(_MERGE_STRATEGY, None)
    pairing = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]} if key else {}
    return schema | pairing | {"items": _field_schema(schemas, member["items"], levels)}


def _plain_schema(schemas: Mapping[str, Json], name: str) -> Json:
    """No more of a struct than rules around it may speak of; objects like that are refused anyway."""
    limits = _LIMITS[name]
    fields = {
        field: dict(member) | limits.fields.get(field, {})
        for field, member in schemas[name]["properties"].items()
        if member.get("type") in {"string", "integer"}
    }
    return {"type": "object", "properties": fields, "x-kubernetes-preserve-unknown-fields": True}


def _keywords(limits: SchemaLimits, field: str, member: Json, levels: int) -> Json:
    return {"maxItems": 0} if _ends_here(member, levels) else limits.fields.get(field, {})


def _ends_here(member: Json, levels: int) -> bool:
    """Whether the field holds composite templates that would be too deep in the tree; the list is there, and empty."""
    return levels == _COMPOSITE_LEVELS_MAX and _referred(member.get("items", {})) == _RECURSIVE


def _referred(schema: Json) -> str:
    """The struct that a schema refers to, by itself or wrapped."""
    reference = schema.get("$ref") or next((part["$ref"] for part in schema.get("allOf", ())), "")
    return str(reference.removeprefix(REFERENCE).rpartition(".")[2])
