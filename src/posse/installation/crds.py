"""The CRDs of scheduling.posse.dev, for clusters that do not serve PodGroups of scheduling.k8s.io."""

from posse.engine.groups.forms import INITIALLY_SCHEDULED, TREE_INITIALLY_SCHEDULED
from posse.installation.crd_schemas import structural_schema
from posse.installation.objects import named
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import POSSE_COMPOSITE_POD_GROUP, POSSE_POD_GROUP, POSSE_WORKLOAD

POSSE_KINDS = (POSSE_WORKLOAD, POSSE_POD_GROUP, POSSE_COMPOSITE_POD_GROUP)


def column(name: str, kind: str, path: str, description: str, priority: int = 0) -> Json:
    wide = {"priority": priority} if priority else {}
    return {"name": name, "type": kind, "jsonPath": path, "description": description, **wide}


def condition_path(name: str, field: str) -> str:
    return f'.status.conditions[?(@.type=="{name}")].{field}'


# What `kubectl get` shows. A definition can only point at values, so a basic group shows by having no
# minimum.
AGE = column("Age", "date", ".metadata.creationTimestamp", "Time since the object was created.")
_WORKLOAD = column("Workload", "string", ".spec.workloadRef.workloadName", "Workload it is made from.")


def _status_columns(condition: str) -> list[Json]:
    return [
        column(
            "Status", "string", condition_path(condition, "reason"), "Whether the group has been scheduled."
        ),
        AGE,
        column("Message", "string", condition_path(condition, "message"), "Why the group waits.", priority=1),
    ]


_COLUMNS: dict[Kind, list[Json]] = {
    POSSE_WORKLOAD: [AGE],
    POSSE_POD_GROUP: [
        column(
            "Min-Count", "integer", ".spec.schedulingPolicy.gang.minCount", "Pods that must start together."
        ),
        _WORKLOAD,
        *_status_columns(INITIALLY_SCHEDULED),
    ],
    POSSE_COMPOSITE_POD_GROUP: [
        column(
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
    return [
        definition(kind, _COLUMNS[kind], structural_schema(kind, kind.storage_version))
        for kind in POSSE_KINDS
    ]


def definition(kind: Kind, columns: list[Json], schema: Json) -> Json:
    """Return the definition of a kind that has one version."""
    names: Json = {
        "kind": kind.name,
        "listKind": kind.list_kind,
        "plural": kind.plural,
        "singular": kind.singular,
    }
    subresources: Json = {"subresources": {"status": {}}} if kind.has_status else {}
    version = {
        "name": kind.storage_version,
        "served": True,
        "storage": True,
        **subresources,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": schema},
    }
    return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", kind.group_resource) | {
        "spec": {
            "group": kind.group,
            "names": names | ({"shortNames": list(kind.short_names)} if kind.short_names else {}),
            "scope": "Namespaced",
            "versions": [version],
        },
    }
