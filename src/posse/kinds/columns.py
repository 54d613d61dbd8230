"""The columns of `kubectl get` for each kind, as Kubernetes has them. Cells are given the stored form of an object."""

from collections.abc import Callable
from typing import Any

from posse.kinds.batch.job_columns import (
    CONTAINER_COLUMNS,
    JOB_SET_STATUS_COLUMNS,
    JOB_STATUS_COLUMNS,
    JOB_WIDE_COLUMNS,
)
from posse.kinds.core.pod_columns import NONE, POD_STATUS_COLUMNS, POD_WIDE_COLUMNS
from posse.kinds.machinery.durations import since
from posse.kinds.machinery.kind import Json, PrintedColumn
from posse.kinds.storage.storage_columns import (
    CLAIM_STATUS_COLUMNS,
    MODE_WIDE_COLUMNS,
    STORAGE_CLASS_OWN_COLUMNS,
    VOLUME_STATUS_COLUMNS,
)

UNKNOWN = "<unknown>"
ROLE_PREFIX = "node-role.kubernetes.io/"
ROLE_LABEL = "kubernetes.io/role"


def _name(obj: Json, _now: float) -> str:
    return str(obj["metadata"]["name"])


def _age(obj: Json, now: float) -> str:
    return since(obj["metadata"].get("creationTimestamp"), now)


def _at(*path: str, absent: Any) -> Callable[[Json, float], Any]:
    """A cell that shows the value at a path of the object."""

    def cell(obj: Json, _now: float) -> Any:
        value: Any = obj
        for step in path:
            value = (value or {}).get(step)
        return absent if value in (None, "") else value

    return cell


NAME = PrintedColumn("Name", "string", "Name of the object, unique in its namespace.", 0, _name, "name")
AGE = PrintedColumn("Age", "string", "Time since the object was created.", 0, _age)
NAME_AND_AGE = (NAME, AGE)

POD_COLUMNS = (NAME, *POD_STATUS_COLUMNS, AGE, *POD_WIDE_COLUMNS)
JOB_COLUMNS = (NAME, *JOB_STATUS_COLUMNS, AGE, *JOB_WIDE_COLUMNS)
JOB_SET_COLUMNS = (NAME, *JOB_SET_STATUS_COLUMNS, AGE)
PERSISTENT_VOLUME_COLUMNS = (NAME, *VOLUME_STATUS_COLUMNS, AGE, *MODE_WIDE_COLUMNS)
PERSISTENT_VOLUME_CLAIM_COLUMNS = (NAME, *CLAIM_STATUS_COLUMNS, AGE, *MODE_WIDE_COLUMNS)
STORAGE_CLASS_COLUMNS = (*STORAGE_CLASS_OWN_COLUMNS, AGE)


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
    return _at("status", "nodeInfo", field, absent=absent)


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

NAMESPACE_COLUMNS = (
    NAME,
    PrintedColumn("Status", "string", "Active or Terminating.", 0, _at("status", "phase", absent="")),
    AGE,
)


def _event_first_seen(event: Json, now: float) -> str:
    return since(event.get("firstTimestamp") or event.get("eventTime"), now)


def _event_last_seen(event: Json, now: float) -> str:
    series = event.get("series") or {}
    moment = series.get("lastObservedTime") or event.get("lastTimestamp")
    return since(moment, now) if moment else _event_first_seen(event, now)


def _event_object(event: Json, _now: float) -> str:
    about = event.get("involvedObject") or {}
    kind, name = str(about.get("kind") or "").lower(), about.get("name") or ""
    return f"{kind}/{name}" if name else kind


def _event_source(event: Json, _now: float) -> str:
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent") or ""
    host = source.get("host") or event.get("reportingInstance") or ""
    return f"{component}, {host}" if host else component


def _event_count(event: Json, _now: float) -> int:
    return (event.get("series") or {}).get("count") or event.get("count") or 1


def _event_message(event: Json, _now: float) -> str:
    return str(event.get("message") or "").strip()


EVENT_COLUMNS = (
    PrintedColumn("Last Seen", "string", "Time since it happened last.", 0, _event_last_seen),
    PrintedColumn("Type", "string", "Normal or Warning.", 0, _at("type", absent="")),
    PrintedColumn("Reason", "string", "Why, in one word.", 0, _at("reason", absent="")),
    PrintedColumn("Object", "string", "Object it is about.", 0, _event_object),
    PrintedColumn(
        "Subobject", "string", "Part it is about.", 1, _at("involvedObject", "fieldPath", absent="")
    ),
    PrintedColumn("Source", "string", "Who reported it.", 1, _event_source),
    PrintedColumn("Message", "string", "What happened.", 0, _event_message),
    PrintedColumn("First Seen", "string", "Time since it happened first.", 1, _event_first_seen),
    PrintedColumn("Count", "integer", "How often it happened.", 1, _event_count),
    PrintedColumn("Name", "string", "Name of the event.", 1, _name, "name"),
)

PRIORITY_CLASS_COLUMNS = (
    NAME,
    PrintedColumn(
        "Value", "integer", "Priority of pods and groups of this class.", 0, _at("value", absent=0)
    ),
    PrintedColumn(
        "Global-Default", "boolean", "Whether others get it.", 0, _at("globalDefault", absent=False)
    ),
    AGE,
    PrintedColumn(
        "PreemptionPolicy", "string", "Whether it may evict.", 0, _at("preemptionPolicy", absent="")
    ),
)

POD_DISRUPTION_BUDGET_COLUMNS = (
    NAME,
    PrintedColumn(
        "Min Available", "string", "Pods that must stay.", 0, _at("spec", "minAvailable", absent="N/A")
    ),
    PrintedColumn(
        "Max Unavailable", "string", "Pods that may go.", 0, _at("spec", "maxUnavailable", absent="N/A")
    ),
    PrintedColumn(
        "Allowed Disruptions",
        "integer",
        "Pods that may be disrupted now.",
        0,
        _at("status", "disruptionsAllowed", absent=0),
    ),
    AGE,
)


def _driver_count(csi_node: Json, _now: float) -> int:
    return len((csi_node.get("spec") or {}).get("drivers") or [])


CSI_NODE_COLUMNS = (
    NAME,
    PrintedColumn("Drivers", "integer", "Storage drivers on the node.", 0, _driver_count),
    AGE,
)


def _ready_of_wanted(obj: Json, _now: float) -> str:
    ready = (obj.get("status") or {}).get("readyReplicas") or 0
    return f"{ready}/{(obj.get('spec') or {}).get('replicas') or 0}"


STATEFUL_SET_COLUMNS = (
    NAME,
    PrintedColumn("Ready", "string", "Pods that are ready, of how many.", 0, _ready_of_wanted),
    AGE,
    *CONTAINER_COLUMNS,
)


def _controller(obj: Json, _now: float) -> str:
    owners = obj["metadata"].get("ownerReferences") or []
    controllers = [owner for owner in owners if owner.get("controller")]
    return f"{str(controllers[0]['kind']).lower()}/{controllers[0]['name']}" if controllers else NONE


CONTROLLER_REVISION_COLUMNS = (
    NAME,
    PrintedColumn("Controller", "string", "What was made from it.", 0, _controller),
    PrintedColumn(
        "Revision", "integer", "Its number; the newest has the highest.", 0, _at("revision", absent=0)
    ),
    AGE,
)

LEADER_WORKER_SET_COLUMNS = (
    NAME,
    PrintedColumn(
        "Ready", "integer", "Replicas that are ready.", 0, _at("status", "readyReplicas", absent=0)
    ),
    PrintedColumn("Desired", "integer", "Replicas there are to be.", 0, _at("spec", "replicas", absent=0)),
    PrintedColumn(
        "Up-to-date",
        "integer",
        "Replicas made from the newest templates.",
        0,
        _at("status", "updatedReplicas", absent=0),
    ),
    AGE,
)

LEASE_COLUMNS = (
    NAME,
    PrintedColumn("Holder", "string", "Who holds the lease.", 0, _at("spec", "holderIdentity", absent="")),
    AGE,
)


def _policy(group: Json, _now: float) -> str:
    policy = (group.get("spec") or {}).get("schedulingPolicy") or {}
    return "Gang" if policy.get("gang") is not None else "Basic"


def _group_status(group: Json, _now: float) -> str:
    conditions = {item.get("type"): item for item in (group.get("status") or {}).get("conditions") or []}
    if "DisruptionTarget" in conditions:
        return str(conditions["DisruptionTarget"].get("reason") or "")
    names = ("PodGroupInitiallyScheduled", "CompositePodGroupInitiallyScheduled")
    scheduled = next((conditions[name] for name in names if name in conditions), None)
    if scheduled is None:
        return "Pending"
    if scheduled.get("status") == "True":
        return "Scheduled"
    return _NOT_TRIED.get(str(scheduled.get("reason")), "Unschedulable")


_NOT_TRIED = {"Invalid": "Invalid", "WaitingForPods": "Pending", "WaitingForPodGroup": "Pending"}


_POLICY = PrintedColumn("Policy", "string", "How members are started: Basic or Gang.", 0, _policy)
_WORKLOAD = PrintedColumn(
    "Workload",
    "string",
    "Workload it is made from.",
    0,
    _at("spec", "workloadRef", "workloadName", absent=NONE),
)
_GROUP_STATUS = PrintedColumn("Status", "string", "Whether the group has been scheduled.", 0, _group_status)
POD_GROUP_COLUMNS = (NAME, _POLICY, _WORKLOAD, _GROUP_STATUS, AGE)
COMPOSITE_POD_GROUP_COLUMNS = (NAME, _POLICY, _WORKLOAD, _GROUP_STATUS, AGE)

_PHASE = _at("status", "phase", absent="")
_MIN_MEMBER = PrintedColumn(
    "MinMember", "integer", "Pods that start together.", 0, _at("spec", "minMember", absent=0)
)
COSCHEDULING_POD_GROUP_COLUMNS = (
    NAME,
    PrintedColumn("Phase", "string", "How far the group has come.", 0, _PHASE),
    _MIN_MEMBER,
    PrintedColumn("Running", "integer", "Pods that run.", 0, _at("status", "running", absent=0)),
    PrintedColumn(
        "Succeeded", "integer", "Pods that have succeeded.", 0, _at("status", "succeeded", absent=0)
    ),
    PrintedColumn("Failed", "integer", "Pods that have failed.", 0, _at("status", "failed", absent=0)),
    AGE,
)
VOLCANO_POD_GROUP_COLUMNS = (
    NAME,
    PrintedColumn("Status", "string", "How far the group has come.", 0, _PHASE),
    _MIN_MEMBER,
    PrintedColumn("Runnings", "integer", "Pods that run.", 0, _at("status", "running", absent=0)),
    AGE,
    PrintedColumn("Queue", "string", "Queue of Volcano.", 1, _at("spec", "queue", absent="")),
)
