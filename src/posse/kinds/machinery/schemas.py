"""OpenAPI v3 schemas of the structs, under the names and in the dialect that Kubernetes clients expect.

msgspec derives plain JSON schemas; here they lose what Kubernetes schemas do not have (null, defaults,
titles) and gain what its clients look for: quantities and int-or-string by reference, limits and enumerations
from the constraints on the fields, and the group, version and kind of each object.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.subresources import BODIES
from posse.model import meta
from posse.model.constraints import Between, Maximum, MaxItems, Minimum, OneOf
from posse.model.structure import FieldShape, fields_of, reachable

REFERENCE = "#/components/schemas/"

_META_PACKAGE = "io.k8s.apimachinery.pkg.apis.meta.v1"
_CORE_PACKAGE = "io.k8s.api.core.v1"
_META_STRUCTS = (
    meta.Condition,
    meta.LabelSelector,
    meta.LabelSelectorRequirement,
    meta.ListMeta,
    meta.ObjectMeta,
    meta.OwnerReference,
)
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_VALUE_SCHEMAS = {
    _QUANTITY: {
        "description": "An amount of a resource, such as 500m, 2 or 1.5Gi.",
        "oneOf": [{"type": "string"}, {"type": "number"}],
    },
    _INT_OR_STRING: {
        "description": "A number, or a text such as a percentage or the name of a port.",
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
}
# Unions of plain types, as msgspec writes them, and the Kubernetes type each of them stands for.
_UNIONS = {
    frozenset({"string", "integer", "number"}): _QUANTITY,
    frozenset({"integer", "string"}): _INT_OR_STRING,
}
# Which limits a format implies is known to every reader, and defaults of structs only say "absent".
_DROPPED = {"title", "default", "minimum", "maximum"}


def package_of(group: str, version: str) -> str:
    """The prefix of schema names: io.k8s.api.scheduling.v1beta1; for groups of others their domain, read
    backwards.
    """
    if is_of_kubernetes(group):
        return f"io.k8s.api.{group.partition('.')[0] or 'core'}.{version}"
    return ".".join([*reversed(group.split(".")), version])


def is_of_kubernetes(group: str) -> bool:
    return "." not in group or group.endswith(".k8s.io")


def schema_name(kind: Kind, version: str) -> str:
    return f"{package_of(kind.group, version)}.{kind.name}"


def schemas_of(kinds: Iterable[Kind], version: str) -> Json:
    """All schemas a document about these kinds of one group needs, by name."""
    kinds = tuple(kinds)
    roots: dict[type[meta.Shape], str] = {
        kind.struct_of(version): schema_name(kind, version) for kind in kinds
    }
    for name, body in BODIES.items():
        if any(name in kind.subresources for kind in kinds):
            roots[body.struct] = f"{package_of(body.group, body.version)}.{body.kind}"
    structs = reachable([*roots, meta.ListMeta])
    names = {struct.__name__: roots.get(struct) or _name_within(struct, roots) for struct in structs}
    _, components = msgspec.json.schema_components(structs, ref_template=REFERENCE + "{name}")
    schemas: Json = {names[name]: _adapted(schema, names) for name, schema in components.items()}
    for struct in structs:
        members = schemas[names[struct.__name__]]["properties"]
        members |= {name: _limited(members[name], shape) for name, shape in fields_of(struct).items()}
    for kind in kinds:
        schemas[schema_name(kind, version)] |= _identity(kind.group, version, kind.name)
        schemas[f"{schema_name(kind, version)}List"] = _list_schema(kind, version)
    return dict(sorted((schemas | _VALUE_SCHEMAS).items()))


def _name_within(struct: type[meta.Shape], roots: dict[type[meta.Shape], str]) -> str:
    """Parts belong to the package of the kind they were written for; what several share belongs to core or
    meta.
    """
    if struct in _META_STRUCTS:
        return f"{_META_PACKAGE}.{struct.__name__}"
    # The module of an older version has the name of the newer one in front.
    owners = ((root, name) for root, name in roots.items() if root.__module__.startswith(struct.__module__))
    root, owner = next(owners, (struct, ""))
    package, _, kind = owner.rpartition(".")
    # PodGroupSpecV1alpha2 is to PodGroupV1alpha2 what PodGroupSpec is to PodGroup.
    before, _, after = root.__name__.rpartition(kind) if kind else ("", "", "")
    return f"{package or _CORE_PACKAGE}.{struct.__name__.removeprefix(before).removesuffix(after)}"


def _adapted(schema: Json, names: dict[str, str]) -> Json:
    """One schema of msgspec, with all below it, in the dialect of Kubernetes."""
    result = {key: value for key, value in schema.items() if key not in _DROPPED}
    options = [option for option in result.pop("anyOf", []) if option.get("type") != "null"]
    union = _UNIONS.get(frozenset(option.get("type", "") for option in options))
    if union:
        return _referring(result, union)
    if options:
        result |= {key: value for key, value in options[0].items() if key not in _DROPPED}
    if reference := result.pop("$ref", ""):
        return _referring(result, names[reference.removeprefix(REFERENCE)])
    return _adapted_members(result, names)


def _adapted_members(schema: Json, names: dict[str, str]) -> Json:
    if not schema.get("type"):
        return {**schema, "type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if schema["type"] == "array":
        return schema | {"items": _adapted(schema.get("items", {}), names)}
    if "additionalProperties" in schema:
        return schema | {"additionalProperties": _adapted(schema["additionalProperties"], names)}
    if "properties" in schema:
        members = {name: _adapted(member, names) for name, member in schema["properties"].items()}
        return {key: value for key, value in schema.items() if key != "required"} | {"properties": members}
    return schema


def _limited(schema: Json, shape: FieldShape) -> Json:
    """Limits of plain values stand with the values, so within a list or map with its items."""
    limits: Json = {}
    for constraint in shape.constraints:
        match constraint:
            case Minimum(least):
                limits["minimum"] = least
            case Maximum(most):
                limits["maximum"] = most
            case Between(least, most):
                limits |= {"minimum": least if shape.judges_empty else min(least, 0), "maximum": most}
            case OneOf(values, unlisted):
                limits["enum"] = [*values, *unlisted]
            case MaxItems(most):
                schema = schema | {"maxProperties" if shape.holds == "map" else "maxItems": most}
    if not limits or shape.holds == "one":
        return schema | limits
    values_key = "items" if shape.holds == "list" else "additionalProperties"
    return schema | {values_key: schema[values_key] | limits}


def _referring(schema: Json, name: str) -> Json:
    """A reference may have no neighbours, so one that is described or marked is wrapped."""
    reference = {"$ref": REFERENCE + name}
    return {**schema, "allOf": [reference]} if schema else reference


def is_int_or_string(schema: Json) -> bool:
    return {"$ref": REFERENCE + _INT_OR_STRING} in (schema, *schema.get("allOf", ()))


def _list_schema(kind: Kind, version: str) -> Json:
    properties: Json = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"$ref": f"{REFERENCE}{_META_PACKAGE}.ListMeta"},
        "items": {"type": "array", "items": {"$ref": REFERENCE + schema_name(kind, version)}},
    }
    description = f"A list of {kind.name} objects."
    identity = _identity(kind.group, version, kind.list_kind)
    return {
        "type": "object",
        "description": description,
        "required": ["items"],
        "properties": properties,
        **identity,
    }


def _identity(group: str, version: str, name: str) -> Json:
    return {"x-kubernetes-group-version-kind": [group_version_kind(group, version, name)]}


def group_version_kind(group: str, version: str, name: str) -> dict[str, Any]:
    return {"group": group, "version": version, "kind": name}
