"""matchLabelKeys and mismatchLabelKeys of affinity terms and spread constraints, resolved when a pod is
created, as Kubernetes does it.

The pod's own value of each such label goes into the selector beside them; schedulers then read the selector
alone.
"""

from collections.abc import Iterator

from posse.kinds.machinery.filling import entries, section
from posse.kinds.machinery.kind import Json

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def resolve_label_keys(obj: Json) -> None:
    labels = section(obj, "metadata").get("labels") or {}
    spec = section(obj, "spec")
    for term in (*_terms(spec.get("affinity")), *entries(spec, "topologySpreadConstraints")):
        selector = term.get("labelSelector")
        if not isinstance(selector, dict):
            continue
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
            _narrow(selector, term.get(field), operator, labels)


def _terms(affinity: object) -> Iterator[Json]:
    if not isinstance(affinity, dict):
        return
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind)
        if isinstance(terms, dict):
            yield from entries(terms, _REQUIRED)
            for weighted in entries(terms, _PREFERRED):
                term = weighted.get("podAffinityTerm")
                if isinstance(term, dict):
                    yield term


def _narrow(selector: Json, keys: object, operator: str, labels: object) -> None:
    """Keys that the pod does not carry are left out."""
    if not isinstance(keys, list) or not isinstance(labels, dict):
        return
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for key in keys
        if isinstance(key, str) and isinstance(labels.get(key), str)
    ]
    if added:
        selector["matchExpressions"] = [*entries(selector, "matchExpressions"), *added]
