"""Exclusive placement: each Job has a topology domain, such as a rack, to itself.

It is said to the scheduler as affinity: the pods of a Job attract each other in the domain and repel those of other Jobs.
So it needs no webhook, and holds for gangs as well. Where an administrator has labelled the nodes for each Job beforehand,
a node selector does the same.
"""

from typing import Any

from posse.controllers.jobsets.names import (
    EXCLUSIVE_TOPOLOGY,
    JOB_KEY,
    NAMESPACED_JOB,
    NO_SCHEDULE,
    NODE_SELECTOR_STRATEGY,
)

Json = dict[str, Any]


def place_exclusively(job: Json) -> None:
    """Change the pod template of a new Job so that it has the domain to itself that its annotations ask for."""
    annotations = job["metadata"]["annotations"]
    if EXCLUSIVE_TOPOLOGY not in annotations:
        return
    spec = job["spec"]["template"]["spec"]
    if NODE_SELECTOR_STRATEGY in annotations:
        _select_nodes(job["metadata"], spec)
    else:
        _attract_and_repel(job["metadata"]["labels"][JOB_KEY], annotations[EXCLUSIVE_TOPOLOGY], spec)


def _select_nodes(metadata: Json, spec: Json) -> None:
    key = f"{metadata['namespace']}_{metadata['name']}"
    spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), NAMESPACED_JOB: key}
    toleration = {"key": NO_SCHEDULE, "operator": "Exists", "effect": "NoSchedule"}
    spec["tolerations"] = [*(spec.get("tolerations") or ()), toleration]


def _attract_and_repel(job_key: str, topology_key: str, spec: Json) -> None:
    own: Json = {"key": JOB_KEY, "operator": "In", "values": [job_key]}
    others: list[Json] = [
        {"key": JOB_KEY, "operator": "Exists"},
        {"key": JOB_KEY, "operator": "NotIn", "values": [job_key]},
    ]
    affinity = dict(spec.get("affinity") or {})
    affinity["podAffinity"] = _with_term(affinity.get("podAffinity"), topology_key, [own])
    affinity["podAntiAffinity"] = _with_term(affinity.get("podAntiAffinity"), topology_key, others)
    spec["affinity"] = affinity


def _with_term(affinity: Json | None, topology_key: str, expressions: list[Json]) -> Json:
    affinity = affinity or {}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    # An empty namespace selector means all namespaces: the domain is shared with nobody, whoever they are.
    term = {
        "labelSelector": {"matchExpressions": expressions},
        "topologyKey": topology_key,
        "namespaceSelector": {},
    }
    return {**affinity, required: [*(affinity.get(required) or ()), term]}
