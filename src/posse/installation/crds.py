"""The custom resource definitions of scheduling.posse.dev: our own kinds, for clusters whose API has no groups."""

from posse.engine.group_forms import INITIALLY_SCHEDULED, TREE_INITIALLY_SCHEDULED
from posse.installation.crd_schemas import structural_schema
from posse.installation.objects import named
from posse.kinds.kind import Json, Kind
from posse.kinds.registry import POSSE_COMPOSITE_POD_GROUP, POSSE_POD_GROUP, POSSE_WORKLOAD

POSSE_KINDS = (POSSE_WORKLOAD, POSSE_POD_GROUP, POSSE_COMPOSITE_POD_GROUP)


def _column(name: str, kind: str, path: str, description: str, priority: int = 0) -> Json:
    wide = {"priority": priority} if priority else {}
    return {"name": name, "type": kind, "jsonPath": path, "description": description, **wide}


def _condition(name: str, field: str) -> str:
    return f'.status.conditions[?(@.type=="{name}")].{field}'


# What `kubectl get` shows. A definition can only point at values, so a basic group shows by having no minimum.
_AGE = _column("Age", "date", ".metadata.creationTimestamp", "Time since the object was created.")
_WORKLOAD = _column("Workload", "string", ".spec.workloadRef.workloadName", "Workload it is made from.")


def _status_columns(condition: str) -> list[Json]:
    return [
        _column("Status", "string", _condition(condition, "reason"), "Whether the group has been scheduled."),
        _AGE,
        _column("Message", "string", _condition(condition, "message"), "Why the group waits.", priority=1),
    ]


_COLUMNS: dict[Kind, list[Json]] = {
    POSSE_WORKLOAD: [_AGE],
    POSSE_POD_GROUP: [
        _column(
            "Min-Count", "integer", ".spec.schedulingPolicy.gang.minCount", "Pods that must start together."
        ),
        _WORKLOAD,
        *_status_columns(INITIALLY_SCHEDULED),
    ],
    POSSE_COMPOSITE_POD_GROUP: [
        _column(
            "Min-Group-Count",
            "integer",
            ".spec.schedulingPolicy.gang.minGroupCount",
            "Child groups that must start together.",
        ),
        _WORKLOAD,
        *_status_columns(TREE_INITIALLY_SCHEDULED),
    ],
}


def definitions() -> list[Json]:
    return [_definition(kind) for kind in POSSE_KINDS]


def _definition(kind: Kind) -> Json:
    return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", kind.group_resource) | {
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.name,
                "listKind": kind.list_kind,
                "plural": kind.plural,
                "singular": kind.singular,
            },
            "scope": "Namespaced",
            "versions": [_version(kind, version) for version in kind.versions],
        },
    }


def _version(kind: Kind, version: str) -> Json:
    subresources: Json = {"subresources": {"status": {}}} if kind.has_status else {}
    return {
        "name": version,
        "served": True,
        "storage": version == kind.storage_version,
        **subresources,
        "additionalPrinterColumns": _COLUMNS[kind],
        "schema": {"openAPIV3Schema": structural_schema(kind, version)},
    }
