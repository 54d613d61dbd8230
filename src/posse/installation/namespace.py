"""The namespace of the scheduler unless it is kube-system: restricted, with a quota for critical pods.

By default it runs where the rest of the control plane does. That namespace exists, admits critical pods in
every cluster, and is usually exempt from webhooks, so that nothing which waits for a scheduler can keep the
scheduler from starting.
"""

from posse.installation.objects import named
from posse.installation.options import NAME, SYSTEM_NAMESPACE, InstallOptions
from posse.kinds.machinery.kind import Json

CRITICAL = "system-cluster-critical"

_SECURITY = "pod-security.kubernetes.io/"


def namespace(options: InstallOptions) -> list[Json]:
    if options.namespace == SYSTEM_NAMESPACE:
        return []
    obj = named("v1", "Namespace", options.namespace)
    obj["metadata"]["labels"] |= {f"{_SECURITY}{mode}": "restricted" for mode in ("enforce", "warn")}
    return [obj, quota(options)]


def quota(options: InstallOptions) -> Json:
    """Some clusters admit critical pods only in namespaces with such a quota; elsewhere it has no effect."""
    expression = {"scopeName": "PriorityClass", "operator": "In", "values": [CRITICAL]}
    return named("v1", "ResourceQuota", f"{NAME}-critical-pods", options.namespace) | {
        # More than there are replicas: a rollout adds some for a while.
        "spec": {"hard": {"pods": "10"}, "scopeSelector": {"matchExpressions": [expression]}}
    }
