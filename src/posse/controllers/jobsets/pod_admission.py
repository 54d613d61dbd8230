"""Completes pods of a JobSet at creation, as upstream's webhook does: a label says their priority.

Pods that have a topology domain to themselves repel others of their own priority only. Others make room by
preemption, or are to be let in.
"""

from typing import Any

from posse.controllers.jobsets.names import (
    EXCLUSIVE_TOPOLOGY,
    JOB_KEY,
    JOBSET_NAME,
    NODE_SELECTOR_STRATEGY,
    PRIORITY,
)

Json = dict[str, Any]


def mark_priority(pod: Json) -> None:
    """Complete a new pod in place. Its priority has been resolved."""
    metadata = pod["metadata"]
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    if JOBSET_NAME not in labels or NODE_SELECTOR_STRATEGY in annotations:
        return
    priority = str(pod["spec"]["priority"])
    labels[PRIORITY] = priority
    if EXCLUSIVE_TOPOLOGY in annotations:
        _repel_only(pod["spec"], priority)


def _repel_only(spec: Json, priority: str) -> None:
    repulsion = (spec.get("affinity") or {}).get("podAntiAffinity") or {}
    for term in repulsion.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        expressions = (term.get("labelSelector") or {}).get("matchExpressions") or []
        if any(item.get("key") == JOB_KEY and item.get("operator") == "NotIn" for item in expressions):
            expressions.append({"key": PRIORITY, "operator": "In", "values": [priority]})
