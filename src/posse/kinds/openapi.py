"""OpenAPI documents of the served API: what kubectl reads to validate, apply and explain.

They follow from the registry alone. A client takes an operation's query parameters as a promise:
fieldValidation means that the server finds unknown fields, a strategic merge patch that it can be sent one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from posse.kinds.machinery.field_texts import described
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.schemas import (
    REFERENCE,
    group_version_kind,
    is_of_kubernetes,
    package_of,
    schema_name,
    schemas_of,
)
from posse.kinds.machinery.subresources import BODIES
from posse.kinds.registry import KINDS

_INFO = {
    "title": "Posse",
    "version": "v1.37.0",
    "description": "The Kubernetes API as far as Posse serves it.",
}
_JSON = "application/json"
_PATCH_TYPES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
_READ = {"pretty": "string"}
_SELECT = {
    "labelSelector": "string",
    "fieldSelector": "string",
    "limit": "integer",
    "continue": "string",
    "resourceVersion": "string",
    "resourceVersionMatch": "string",
    "timeoutSeconds": "integer",
}
_WATCH = {"watch": "boolean", "allowWatchBookmarks": "boolean", "sendInitialEvents": "boolean"}
_WRITE = {"dryRun": "string", "fieldManager": "string", "fieldValidation": "string"}
_DELETE = {"dryRun": "string", "gracePeriodSeconds": "integer", "propagationPolicy": "string"}

# HTTP method, what Kubernetes calls the action, the verb in operation ids, query parameters.
_LIST = ("get", "list", "list", _READ | _SELECT | _WATCH)
_CREATE = ("post", "post", "create", _READ | _WRITE)
_DELETE_ALL = ("delete", "deletecollection", "deleteCollection", _READ | _SELECT | _DELETE)
_GET = ("get", "get", "read", _READ)
_UPDATE = ("put", "put", "replace", _READ | _WRITE)
_PATCH = ("patch", "patch", "patch", _READ | _WRITE | {"force": "boolean"})
_DELETE_ONE = ("delete", "delete", "delete", _READ | _DELETE)

_Action = tuple[str, str, str, dict[str, str]]
_SUBRESOURCE_ACTIONS: dict[str, tuple[_Action, ...]] = {
    "status": (_GET, _UPDATE, _PATCH),
    "binding": (_CREATE,),
    "eviction": (_CREATE,),
    "token": (_CREATE,),
    "finalize": (_UPDATE,),
    "scale": (_GET, _UPDATE, _PATCH),
}


def openapi_v3(group: str, version: str, served: Sequence[Kind] = KINDS) -> Json:
    """The document of one group and version, as served under /openapi/v3/apis/<group>/<version>."""
    kinds = [kind for kind in served if kind.group == group and version in kind.versions]
    paths = {path: item for kind in kinds for path, item in _paths_of(kind, version)}
    schemas = described(schemas_of(kinds, version))
    return {
        "openapi": "3.0.0",
        "info": dict(_INFO),
        "paths": paths,
        "components": {"schemas": {name: _with_members_only(schema) for name, schema in schemas.items()}},
    }


def _with_members_only(schema: Json) -> Json:
    """Clients that write the document again leave out properties that are none."""
    return {name: value for name, value in schema.items() if name != "properties" or value}


def _paths_of(kind: Kind, version: str) -> Iterator[tuple[str, Json]]:
    root = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
    collection = (
        f"{root}/namespaces/{{namespace}}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
    )
    item = f"{collection}/{{name}}"
    if kind.namespaced:
        yield f"{root}/{kind.plural}", _path_item(kind, version, f"{root}/{kind.plural}", (_LIST,))
    deleting = (_DELETE_ALL,) if kind.has_delete_collection else ()
    yield collection, _path_item(kind, version, collection, (_LIST, _CREATE, *deleting))
    yield item, _path_item(kind, version, item, (_GET, _UPDATE, _PATCH, _DELETE_ONE))
    for name in (*(("status",) if kind.has_status else ()), *kind.subresources):
        path = f"{item}/{name}"
        yield path, _path_item(kind, version, path, _SUBRESOURCE_ACTIONS[name])


def _path_item(kind: Kind, version: str, path: str, actions: tuple[_Action, ...]) -> Json:
    variables = [name for name in ("namespace", "name") if f"{{{name}}}" in path]
    parameters = [_parameter(name, "path", "string") | {"required": True} for name in variables]
    operations = {action[0]: _operation(kind, version, path, action) for action in actions}
    return {**operations, "parameters": parameters} if parameters else operations


def _parameter(name: str, place: str, value_type: str) -> Json:
    return {"name": name, "in": place, "schema": {"type": value_type}}


def _operation(kind: Kind, version: str, path: str, action: _Action) -> Json:
    method, name, verb, query = action
    target = _target(kind, version, path, name)
    operation: Json = {
        "operationId": _operation_id(kind, version, path, verb),
        "parameters": [_parameter(option, "query", value_type) for option, value_type in query.items()],
        "responses": {"200": {"description": "OK", "content": {_JSON: {"schema": target}}}},
        "x-kubernetes-action": name,
        "x-kubernetes-group-version-kind": _spoken_of(kind, version, path),
    }
    if method in {"post", "put"}:
        operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": target}}}
    elif method == "patch":
        content: Json = {media_type: {"schema": {}} for media_type in _PATCH_TYPES}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _target(kind: Kind, version: str, path: str, action: str) -> Json:
    if body := BODIES.get(path.rpartition("/")[2]):
        return {"$ref": f"{REFERENCE}{package_of(body.group, body.version)}.{body.kind}"}
    suffix = "List" if action == "list" else ""
    return {"$ref": REFERENCE + schema_name(kind, version) + suffix}


def _spoken_of(kind: Kind, version: str, path: str) -> Json:
    if body := BODIES.get(path.rpartition("/")[2]):
        return group_version_kind(body.group, body.version, body.kind)
    return group_version_kind(kind.group, version, kind.name)


def _operation_id(kind: Kind, version: str, path: str, verb: str) -> str:
    parts = kind.group.split(".")[: 1 if is_of_kubernetes(kind.group) else None]
    group = "".join(part.capitalize() for part in parts) or "Core"
    scope = "Namespaced" if "{namespace}" in path else ""
    subresource = path.partition("{name}/")[2].capitalize()
    everywhere = "ForAllNamespaces" if kind.namespaced and not scope else ""
    return f"{verb}{group}{version.capitalize()}{scope}{kind.name}{subresource}{everywhere}"


def openapi_v2(served: Sequence[Kind] = KINDS) -> Json:
    """All groups and versions in one document of the older dialect, for clients that know no other."""
    versions = dict.fromkeys((kind.group, version) for kind in served for version in kind.versions)
    documents = [openapi_v3(group, version, served) for group, version in versions]
    paths = {path: _path_item_v2(item) for document in documents for path, item in document["paths"].items()}
    schemas = {
        name: item for document in documents for name, item in document["components"]["schemas"].items()
    }
    definitions = {name: _schema_v2(schema) for name, schema in sorted(schemas.items())}
    return {"swagger": "2.0", "info": dict(_INFO), "paths": paths, "definitions": definitions}


def _path_item_v2(item: Json) -> Json:
    result: Json = {name: _operation_v2(part) for name, part in item.items() if name != "parameters"}
    if "parameters" in item:
        result["parameters"] = [_parameter_v2(parameter) for parameter in item["parameters"]]
    return result


def _operation_v2(operation: Json) -> Json:
    result = {key: value for key, value in operation.items() if key != "requestBody"}
    result["parameters"] = [_parameter_v2(parameter) for parameter in operation["parameters"]]
    schema = operation["responses"]["200"]["content"][_JSON]["schema"]
    result |= {"produces": [_JSON], "responses": {"200": {"description": "OK", "schema": _schema_v2(schema)}}}
    if body := operation.get("requestBody"):
        result["consumes"] = list(body["content"])
        schema = next(iter(body["content"].values()))["schema"]
        result["parameters"].append(
            {"name": "body", "in": "body", "required": True, "schema": _schema_v2(schema)}
        )
    return result


def _parameter_v2(parameter: Json) -> Json:
    return {**{key: value for key, value in parameter.items() if key != "schema"}, **parameter["schema"]}


def _schema_v2(schema: Any) -> Any:
    """The older dialect knows no alternatives and wraps no references."""
    if isinstance(schema, list):
        return [_schema_v2(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {
        key: _schema_v2(value) for key, value in schema.items() if key not in ("allOf", "oneOf", "$ref")
    }
    if "oneOf" in schema:
        result["type"] = "string"
    reference = schema.get("$ref") or next((part["$ref"] for part in schema.get("allOf", ())), "")
    if reference:
        result["$ref"] = reference.replace(REFERENCE, "#/definitions/")
    return result
