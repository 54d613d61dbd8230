"""Keeps the pods of one replica, or subgroup, in one topology domain, and those of all others out of it."""

from typing import Any

Json = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def make_exclusive(pod: Json, topology: str, label: str) -> None:
    """Require a domain shared only with pods that have the same value of the label."""
    value = pod["metadata"]["labels"][label]
    affinity = pod["spec"].setdefault("affinity", {})
    together = affinity.setdefault("podAffinity", {}).setdefault(REQUIRED, [])
    apart = affinity.setdefault("podAntiAffinity", {}).setdefault(REQUIRED, [])
    if _speaks_of(together, topology) and _speaks_of(apart, topology):
        return
    own = {"key": label, "operator": "In", "values": [value]}
    others = [{"key": label, "operator": "Exists"}, {"key": label, "operator": "NotIn", "values": [value]}]
    together.append({"labelSelector": {"matchExpressions": [own]}, "topologyKey": topology})
    apart.append({"labelSelector": {"matchExpressions": others}, "topologyKey": topology})


def _speaks_of(terms: list[Json], topology: str) -> bool:
    return any(term.get("topologyKey") == topology for term in terms)
