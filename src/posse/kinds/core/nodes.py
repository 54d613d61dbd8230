"""Rules for Node: taints, amounts and conditions. Unlike other kinds a node brings its status along when it
registers.
"""

from collections.abc import Callable
from typing import Any

from posse.kinds.columns import AGE, NAME, NONE, UNKNOWN, value_at
from posse.kinds.machinery.checks import duplicates
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.filling import section
from posse.kinds.machinery.kind import Json, Kind, KindRules, PrintedColumn, keep_spec
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.model.node import Node, NodeSpec


def default(obj: Json) -> None:
    status = section(obj, "status")
    capacity = status.get("capacity")
    if status.get("allocatable") is None and isinstance(capacity, dict):
        status["allocatable"] = dict(capacity)


def validate(node: Node) -> list[FieldError]:
    return [
        *metadata_errors(node.metadata, namespaced=False),
        *_taints_errors(node.spec),
        *declared_errors("status", node.status),
    ]


def validate_update(new: Node, old: Node) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.spec.taints != old.spec.taints:
        errors += _taints_errors(new.spec)
    return errors + declared_errors("status", new.status, old.status)


def _taints_errors(spec: NodeSpec) -> list[FieldError]:
    keys = [(taint.key, taint.effect) for taint in spec.taints]
    return declared_errors("spec", spec) + duplicates("spec.taints", keys, spec.taints)


RULES = KindRules(
    default=default,
    prepare_status_update=keep_spec,
    validate=validate,
    validate_update=validate_update,
)


ROLE_PREFIX = "node-role.kubernetes.io/"

ROLE_LABEL = "kubernetes.io/role"


def _node_status(node: Json, _now: float) -> str:
    conditions = (node.get("status") or {}).get("conditions") or []
    ready = [item.get("status") == "True" for item in conditions if item.get("type") == "Ready"]
    words = ["Ready" if ready[0] else "NotReady"] if ready else ["Unknown"]
    if (node.get("spec") or {}).get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _node_roles(node: Json, _now: float) -> str:
    labels = node["metadata"].get("labels") or {}
    roles = {label.removeprefix(ROLE_PREFIX) for label in labels if label.startswith(ROLE_PREFIX)}
    roles.add(labels.get(ROLE_LABEL, ""))
    return ",".join(sorted(filter(None, roles))) or NONE


def _address(kind: str) -> Callable[[Json, float], str]:
    def cell(node: Json, _now: float) -> str:
        addresses = (node.get("status") or {}).get("addresses") or []
        return next((item.get("address") or NONE for item in addresses if item.get("type") == kind), NONE)

    return cell


def _node_info(field: str, absent: str = UNKNOWN) -> Callable[[Json, float], Any]:
    return value_at("status", "nodeInfo", field, absent=absent)


NODE_COLUMNS = (
    NAME,
    PrintedColumn("Status", "string", "Whether the node is ready and takes new pods.", 0, _node_status),
    PrintedColumn("Roles", "string", "Roles of the node.", 0, _node_roles),
    AGE,
    PrintedColumn("Version", "string", "Version of the kubelet.", 0, _node_info("kubeletVersion", "")),
    PrintedColumn("Internal-IP", "string", "Address within the cluster.", 1, _address("InternalIP")),
    PrintedColumn("External-IP", "string", "Address from outside.", 1, _address("ExternalIP")),
    PrintedColumn("OS-Image", "string", "Operating system.", 1, _node_info("osImage")),
    PrintedColumn("Kernel-Version", "string", "Version of the kernel.", 1, _node_info("kernelVersion")),
    PrintedColumn(
        "Container-Runtime", "string", "What runs containers.", 1, _node_info("containerRuntimeVersion")
    ),
)

NODE = Kind(
    name="Node",
    plural="nodes",
    namespaced=False,
    struct=Node,
    rules=RULES,
    columns=NODE_COLUMNS,
    short_names=("no",),
    has_status=True,
    selectable_fields=("spec.unschedulable",),
    absent_fields={"spec.unschedulable": "false"},
)
