"""Decisions about a write that need more than the object itself: namespaces, priorities, what is added to new
pods.

Runs after defaulting and before validation, so objects may still be malformed; what has the wrong shape is
passed on for validation to refuse.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from posse.kinds.core.cluster_addresses import assign_address
from posse.kinds.core.limit_ranges import claim_limit_problems, fill_limits, pod_limit_problems
from posse.kinds.core.node_ports import assign_node_ports
from posse.kinds.machinery import errors
from posse.kinds.machinery.filling import entries, fill, section
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    LIMIT_RANGE,
    NAMESPACE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    PRIORITY_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    SERVICE,
    STORAGE_CLASS,
)
from posse.kinds.storage.default_class import fill_default_class
from posse.model.resource_claim import ADMIN_ACCESS_LABEL

POD_GROUP_FINALIZER = "scheduling.k8s.io/podgroup-protection"
# Kubernetes would create the last one again; here nothing does, and nodes would have nowhere to keep their
# leases.
IMMORTAL_NAMESPACES = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
# How long a pod stays on a node that fails, unless it says otherwise itself.
FAILING_NODE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
FAILING_NODE_SECONDS = 300
# How error texts call the kinds that have a priority.
PRIORITISED = {
    POD: "pod",
    POD_GROUP: "pod group",
    COMPOSITE_POD_GROUP: "composite pod group",
    POSSE_POD_GROUP: "pod group",
    POSSE_COMPOSITE_POD_GROUP: "composite pod group",
}


class ClusterView(Protocol):
    """What else exists, in storage form."""

    def get(self, kind: Kind, namespace: str | None, name: str) -> Json | None: ...
    def list(self, kind: Kind, namespace: str | None) -> Iterable[Json]: ...


# Completes a new object in place, or raises ApiError.
AdmissionHook = Callable[[Json, ClusterView], None]


def admit_create(kind: Kind, obj: Json, cluster: ClusterView) -> None:
    """Complete the object in place, or raise ApiError."""
    if kind.namespaced:
        _require_live_namespace(kind, obj, cluster)
    for admit in _ON_CREATE.get(kind, ()):
        admit(kind, obj, cluster)


def admit_amounts(kind: Kind, obj: Json, cluster: ClusterView) -> None:
    """Hold a valid object against the limit ranges of its namespace."""
    check = _LIMIT_CHECKS.get(kind)
    if check is not None and (
        problems := check(obj, cluster.list(LIMIT_RANGE, obj["metadata"]["namespace"]))
    ):
        text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise errors.forbidden(kind, _name_of(obj), text)


def admit_update(kind: Kind, obj: Json, cluster: ClusterView) -> None:
    for admit in _ON_UPDATE.get(kind, ()):
        admit(kind, obj, cluster)


def admit_delete(kind: Kind, name: str) -> None:
    if name in _UNDELETABLE.get(kind, ()):
        raise errors.forbidden(kind, name, f"this {kind.singular} may not be deleted")


def _require_live_namespace(kind: Kind, obj: Json, cluster: ClusterView) -> None:
    name = section(obj, "metadata").get("namespace") or ""
    if not isinstance(name, str):
        return
    namespace = cluster.get(NAMESPACE, None, name)
    if namespace is None:
        raise errors.not_found(NAMESPACE, name)
    if namespace["metadata"].get("deletionTimestamp"):
        raise errors.namespace_terminating(kind, _name_of(obj), name)


class _Priority(NamedTuple):
    class_name: str
    value: int
    policy: str


def _resolve_priority(kind: Kind, obj: Json, cluster: ClusterView) -> None:
    spec = section(obj, "spec")
    priority = _priority_asked_for(kind, obj, spec.get("priorityClassName") or "", cluster)
    given, policy = spec.get("priority"), spec.get("preemptionPolicy")
    if given not in (None, priority.value):
        raise errors.forbidden(kind, _name_of(obj), _priority_mismatch(kind, given, priority.value))
    if policy not in (None, priority.policy):
        text = (
            f"the string value of PreemptionPolicy ({policy}) must not be provided in "
            f"{PRIORITISED[kind]} spec; "
            f"priority admission controller computed {priority.policy} from the given PriorityClass name"
        )
        raise errors.forbidden(kind, _name_of(obj), text)
    if priority.class_name:
        spec["priorityClassName"] = priority.class_name
    spec["priority"] = priority.value
    spec["preemptionPolicy"] = priority.policy


def _priority_mismatch(kind: Kind, given: object, computed: int) -> str:
    if kind is POD:
        return (
            f"the integer value of priority ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {computed} from the given PriorityClass name"
        )
    return (
        f"priority set in the {PRIORITISED[kind]} ({given}) must match the priority computed ({computed}) "
        "based on the priority class set in the spec"
    )


def _priority_asked_for(kind: Kind, obj: Json, class_name: object, cluster: ClusterView) -> _Priority:
    if not class_name or not isinstance(class_name, str):
        return _default_priority(cluster)
    found = cluster.get(PRIORITY_CLASS, None, class_name)
    if found is None:
        raise errors.forbidden(kind, _name_of(obj), f"no PriorityClass with name {class_name} was found")
    return _priority_of(found)


def _default_priority(cluster: ClusterView) -> _Priority:
    defaults = [item for item in cluster.list(PRIORITY_CLASS, None) if item.get("globalDefault")]
    if not defaults:
        return _Priority("", 0, "PreemptLowerPriority")
    return _priority_of(min(defaults, key=lambda item: (item.get("value", 0), item["metadata"]["name"])))


def _priority_of(priority_class: Json) -> _Priority:
    policy = priority_class.get("preemptionPolicy") or "PreemptLowerPriority"
    return _Priority(priority_class["metadata"]["name"], priority_class.get("value") or 0, policy)


def _require_single_default(_kind: Kind, obj: Json, cluster: ClusterView) -> None:
    if obj.get("globalDefault") is not True:
        return
    name = _name_of(obj)
    for other in cluster.list(PRIORITY_CLASS, None):
        if other.get("globalDefault") and other["metadata"]["name"] != name:
            marked = other["metadata"]["name"]
            text = f"PriorityClass {marked} is already marked as default. Only one default can exist"
            raise errors.forbidden(PRIORITY_CLASS, name, text)


def _admit_claim(kind: Kind, obj: Json, cluster: ClusterView) -> None:
    _require_admin_namespace(kind, obj, section(obj, "spec"), cluster)


def _admit_claim_template(kind: Kind, obj: Json, cluster: ClusterView) -> None:
    _require_admin_namespace(kind, obj, section(section(obj, "spec"), "spec"), cluster)


def _require_admin_namespace(kind: Kind, obj: Json, spec: Json, cluster: ClusterView) -> None:
    """Only in a namespace that is meant for it may a claim ask for devices that are in use."""
    namespace = cluster.get(NAMESPACE, None, section(obj, "metadata").get("namespace") or "") or {}
    if (section(namespace, "metadata").get("labels") or {}).get(ADMIN_ACCESS_LABEL) == "true":
        return
    for index, request in enumerate(entries(section(spec, "devices"), "requests")):
        if (request.get("exactly") or {}).get("adminAccess") is True:
            field = f"spec.devices.requests[{index}].adminAccess"
            text = (
                f"admin access to devices requires the `{ADMIN_ACCESS_LABEL}: true` label "
                "on the containing namespace"
            )
            raise errors.invalid(kind, _name_of(obj), [errors.FieldError.forbidden(field, text)])


def _fill_limits(_kind: Kind, pod: Json, cluster: ClusterView) -> None:
    fill_limits(pod, cluster.list(LIMIT_RANGE, section(pod, "metadata").get("namespace")))


def _fill_default_class(_kind: Kind, claim: Json, cluster: ClusterView) -> None:
    fill_default_class(claim, cluster.list(STORAGE_CLASS, None))


def _assign_address(kind: Kind, service: Json, cluster: ClusterView) -> None:
    assign_address(kind, service, cluster.list(SERVICE, None))


def _assign_node_ports(kind: Kind, service: Json, cluster: ClusterView) -> None:
    assign_node_ports(kind, service, cluster.list(SERVICE, None), is_new=True)


def _assign_further_node_ports(kind: Kind, service: Json, cluster: ClusterView) -> None:
    assign_node_ports(kind, service, cluster.list(SERVICE, None), is_new=False)


def _tolerate_failing_nodes(_kind: Kind, pod: Json, _cluster: ClusterView) -> None:
    spec = section(pod, "spec")
    present = entries(spec, "tolerations")
    for taint in FAILING_NODE_TAINTS:
        if any(_tolerates(toleration, taint) for toleration in present):
            continue
        fill(spec, "tolerations", [])
        if isinstance(spec["tolerations"], list):
            spec["tolerations"] = [
                *spec["tolerations"],
                {
                    "key": taint,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": FAILING_NODE_SECONDS,
                },
            ]


def _tolerates(toleration: Json, taint: str) -> bool:
    key, effect = toleration.get("key") or "", toleration.get("effect") or ""
    return key in ("", taint) and effect in ("", "NoExecute")


def _protect(_kind: Kind, group: Json, _cluster: ClusterView) -> None:
    metadata = section(group, "metadata")
    finalizers = metadata.get("finalizers") or []
    if isinstance(finalizers, list) and POD_GROUP_FINALIZER not in finalizers:
        metadata["finalizers"] = [*finalizers, POD_GROUP_FINALIZER]


def _name_of(obj: Json) -> str:
    metadata = section(obj, "metadata")
    return str(metadata.get("name") or metadata.get("generateName") or "Unknown")


_Admission = Callable[[Kind, Json, ClusterView], None]
_ON_CREATE: dict[Kind, tuple[_Admission, ...]] = {
    POD: (_resolve_priority, _tolerate_failing_nodes, _fill_limits),
    **{kind: (_resolve_priority, _protect) for kind in PRIORITISED if kind is not POD},
    SERVICE: (_assign_address, _assign_node_ports),
    PERSISTENT_VOLUME_CLAIM: (_fill_default_class,),
    PRIORITY_CLASS: (_require_single_default,),
    RESOURCE_CLAIM: (_admit_claim,),
    RESOURCE_CLAIM_TEMPLATE: (_admit_claim_template,),
}
_ON_UPDATE: dict[Kind, tuple[_Admission, ...]] = {
    PRIORITY_CLASS: (_require_single_default,),
    SERVICE: (_assign_further_node_ports,),
}
_LIMIT_CHECKS: dict[Kind, Callable[[Json, Iterable[Json]], list[str]]] = {
    POD: pod_limit_problems,
    PERSISTENT_VOLUME_CLAIM: claim_limit_problems,
}
_UNDELETABLE = {NAMESPACE: IMMORTAL_NAMESPACES}
