"""What `kubectl get` shows."""

import pytest

from posse.kinds.machinery.durations import human_duration, since
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    CONTROLLER_REVISION,
    EVENT,
    LEASE,
    NAMESPACE,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_DISRUPTION_BUDGET,
    POD_GROUP,
    PRIORITY_CLASS,
    STATEFUL_SET,
    STORAGE_CLASS,
    WORKLOAD,
)
from posse.model.timestamps import parse_timestamp

NOW = parse_timestamp("2026-01-01T12:00:00Z")
METADATA = {"name": "x", "creationTimestamp": "2026-01-01T11:58:30Z"}


def shown(kind, obj):
    full = {"metadata": METADATA, **obj}
    return {column.name: column.cell(full, NOW) for column in kind.columns}


MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1.5, "0s"),
        (0, "0s"),
        (5.9, "5s"),
        (119, "119s"),
        (120, "2m"),
        (150, "2m30s"),
        (10 * MINUTE + 1, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 20 * MINUTE, "3h20m"),
        (8 * HOUR + 20 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (2 * DAY, "2d"),
        (5 * DAY + 3 * HOUR, "5d3h"),
        (8 * DAY + 3 * HOUR, "8d"),
        (700 * DAY, "700d"),
        (2 * YEAR, "2y"),
        (3 * YEAR + 10 * DAY, "3y10d"),
        (9 * YEAR + 10 * DAY, "9y"),
    ],
)
def test_durations(seconds, text):
    assert human_duration(seconds) == text


@pytest.mark.parametrize("timestamp", [None, "", "yesterday", 7])
def test_unknown_times(timestamp):
    assert since(timestamp, NOW) == "<unknown>"


def container(name="c", **state):
    return {"name": name, "ready": False, "restartCount": 0, "state": state}


RUNNING = {"name": "c", "ready": True, "restartCount": 0, "state": {"running": {}}}
ONE = {"containers": [{"name": "c"}]}
TWO = {"containers": [{"name": "c"}, {"name": "d"}]}
INIT = {"containers": [{"name": "c"}], "initContainers": [{"name": "i"}, {"name": "j"}]}
SIDECAR = {"containers": [{"name": "c"}], "initContainers": [{"name": "s", "restartPolicy": "Always"}]}
DONE = container(terminated={"exitCode": 0, "reason": "Completed"})


def init_status(**state):
    return {"name": "i", "restartCount": 2, "state": state}


POD_CASES = {
    "pending": (ONE, {"phase": "Pending"}, "0/1", "Pending"),
    "no status": (ONE, {}, "0/1", ""),
    "gated": (
        ONE,
        {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
        "0/1",
        "SchedulingGated",
    ),
    "starting": (
        ONE,
        {"phase": "Pending", "containerStatuses": [container(waiting={"reason": "ContainerCreating"})]},
        "0/1",
        "ContainerCreating",
    ),
    "running": (TWO, {"phase": "Running", "containerStatuses": [RUNNING, RUNNING]}, "2/2", "Running"),
    "succeeded": (ONE, {"phase": "Succeeded", "containerStatuses": [DONE]}, "0/1", "Completed"),
    "failed": (
        ONE,
        {"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 1, "reason": "Error"})]},
        "0/1",
        "Error",
    ),
    "exit code": (
        ONE,
        {"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 3})]},
        "0/1",
        "ExitCode:3",
    ),
    "signal": (
        ONE,
        {"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 137, "signal": 9})]},
        "0/1",
        "Signal:9",
    ),
    "evicted": (ONE, {"phase": "Failed", "reason": "Evicted"}, "0/1", "Evicted"),
    "one of two done, other ready": (
        TWO,
        {
            "phase": "Running",
            "containerStatuses": [DONE, RUNNING],
            "conditions": [{"type": "Ready", "status": "True"}],
        },
        "1/2",
        "Running",
    ),
    "one of two done": (TWO, {"phase": "Running", "containerStatuses": [DONE, RUNNING]}, "1/2", "NotReady"),
    "init running": (
        INIT,
        {"phase": "Pending", "initContainerStatuses": [init_status(running={}), init_status(waiting={})]},
        "0/1",
        "Init:0/2",
    ),
    "second init": (
        INIT,
        {
            "phase": "Pending",
            "initContainerStatuses": [init_status(terminated={"exitCode": 0}), init_status(waiting={})],
        },
        "0/1",
        "Init:1/2",
    ),
    "init failed": (
        INIT,
        {"phase": "Pending", "initContainerStatuses": [init_status(terminated={"exitCode": 1})]},
        "0/1",
        "Init:ExitCode:1",
    ),
    "init waiting": (
        INIT,
        {"phase": "Pending", "initContainerStatuses": [init_status(waiting={"reason": "ErrImagePull"})]},
        "0/1",
        "Init:ErrImagePull",
    ),
    "sidecar": (
        SIDECAR,
        {
            "phase": "Running",
            "initContainerStatuses": [
                {"name": "s", "started": True, "ready": True, "restartCount": 1, "state": {"running": {}}}
            ],
            "containerStatuses": [RUNNING],
        },
        "2/2",
        "Running",
    ),
}


@pytest.mark.parametrize(("spec", "status", "ready", "text"), POD_CASES.values(), ids=POD_CASES.keys())
def test_pod_status(spec, status, ready, text):
    cells = shown(POD, {"spec": spec, "status": status})
    assert (cells["Ready"], cells["Status"]) == (ready, text)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"phase": "Running"}, "Terminating"),
        ({"phase": "Running", "reason": "NodeLost"}, "Unknown"),
        ({"phase": "Failed"}, "Failed"),
    ],
)
def test_deleted_pod(status, text):
    metadata = METADATA | {"deletionTimestamp": "2026-01-01T11:59:00Z"}
    assert shown(POD, {"metadata": metadata, "spec": ONE, "status": status})["Status"] == text


def test_pod_wide():
    cells = shown(
        POD,
        {
            "spec": ONE
            | {"nodeName": "n1", "readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]},
            "status": {
                "podIP": "10.0.0.7",
                "phase": "Running",
                "conditions": [{"type": "a", "status": "True"}],
                "containerStatuses": [
                    RUNNING
                    | {"restartCount": 3, "lastState": {"terminated": {"finishedAt": "2026-01-01T11:55:00Z"}}}
                ],
            },
        },
    )
    assert cells == {
        "Name": "x",
        "Ready": "1/1",
        "Status": "Running",
        "Restarts": "3 (5m ago)",
        "Age": "90s",
        "IP": "10.0.0.7",
        "Node": "n1",
        "Nominated Node": "<none>",
        "Readiness Gates": "1/2",
    }


def test_bare_pod_wide():
    cells = shown(POD, {"status": {"nominatedNodeName": "n2"}})
    assert (
        cells["Restarts"],
        cells["IP"],
        cells["Node"],
        cells["Nominated Node"],
        cells["Readiness Gates"],
    ) == (
        "0",
        "<none>",
        "<none>",
        "n2",
        "<none>",
    )


READY, NOT_READY = ({"type": "Ready", "status": status} for status in ("True", "Unknown"))


@pytest.mark.parametrize(
    ("conditions", "unschedulable", "text"),
    [
        ([READY], False, "Ready"),
        ([NOT_READY], False, "NotReady"),
        ([], False, "Unknown"),
        ([READY], True, "Ready,SchedulingDisabled"),
    ],
)
def test_node_status(conditions, unschedulable, text):
    node = {"spec": {"unschedulable": unschedulable}, "status": {"conditions": conditions}}
    assert shown(NODE, node)["Status"] == text


def test_node_wide():
    labels = {
        "node-role.kubernetes.io/worker": "",
        "node-role.kubernetes.io/control-plane": "",
        "kubernetes.io/role": "x",
    }
    node = {
        "metadata": METADATA | {"labels": labels},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
            "nodeInfo": {"kubeletVersion": "v1.37.0", "osImage": "Posse"},
        },
    }
    assert shown(NODE, node) == {
        "Name": "x",
        "Status": "Unknown",
        "Roles": "control-plane,worker,x",
        "Age": "90s",
        "Version": "v1.37.0",
        "Internal-IP": "10.1.0.1",
        "External-IP": "<none>",
        "OS-Image": "Posse",
        "Kernel-Version": "<unknown>",
        "Container-Runtime": "<unknown>",
    }
    assert shown(NODE, {})["Roles"] == "<none>"


def test_event():
    event = {
        "type": "Warning",
        "reason": "FailedScheduling",
        "message": " 0/3 nodes are available\n",
        "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec"},
        "source": {"component": "posse", "host": "h"},
        "firstTimestamp": "2026-01-01T11:00:00Z",
        "lastTimestamp": "2026-01-01T11:59:00Z",
        "count": 4,
    }
    assert shown(EVENT, event) == {
        "Last Seen": "60s",
        "Type": "Warning",
        "Reason": "FailedScheduling",
        "Object": "pod/p",
        "Subobject": "spec",
        "Source": "posse, h",
        "Message": "0/3 nodes are available",
        "First Seen": "60m",
        "Count": 4,
        "Name": "x",
    }


def test_event_of_the_newer_kind():
    event = {
        "eventTime": "2026-01-01T11:59:50.000000Z",
        "involvedObject": {"kind": "Node"},
        "reportingComponent": "posse",
    }
    cells = shown(EVENT, event)
    assert (cells["Last Seen"], cells["First Seen"], cells["Count"]) == ("10s", "10s", 1)
    assert (cells["Object"], cells["Source"]) == ("node", "posse")
    series = event | {"series": {"count": 9, "lastObservedTime": "2026-01-01T11:59:59.000000Z"}}
    cells = shown(EVENT, series)
    assert (cells["Last Seen"], cells["Count"]) == ("1s", 9)


GANG, BASIC = {"gang": {"minCount": 2}}, {"basic": {}}


@pytest.mark.parametrize(
    ("spec", "conditions", "policy", "workload", "status"),
    [
        ({"schedulingPolicy": GANG}, [], "Gang", "<none>", "Pending"),
        (
            {"schedulingPolicy": BASIC, "workloadRef": {"workloadName": "wl"}},
            [{"type": "PodGroupInitiallyScheduled", "status": "True"}],
            "Basic",
            "wl",
            "Scheduled",
        ),
        (
            {"schedulingPolicy": GANG},
            [{"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "SchedulerError"}],
            "Gang",
            "<none>",
            "Unschedulable",
        ),
        (
            {"schedulingPolicy": GANG},
            [{"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Invalid"}],
            "Gang",
            "<none>",
            "Invalid",
        ),
        (
            {"schedulingPolicy": GANG},
            [
                {"type": "PodGroupInitiallyScheduled", "status": "True"},
                {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"},
            ],
            "Gang",
            "<none>",
            "PreemptionByScheduler",
        ),
    ],
)
def test_pod_group(spec, conditions, policy, workload, status):
    assert shown(POD_GROUP, {"spec": spec, "status": {"conditions": conditions}}) == {
        "Name": "x",
        "Policy": policy,
        "Workload": workload,
        "Status": status,
        "Age": "90s",
    }


def test_other_kinds():
    reference = {"workloadRef": {"workloadName": "wl"}, "schedulingPolicy": GANG}
    assert shown(COMPOSITE_POD_GROUP, {"spec": reference}) == {
        "Name": "x",
        "Policy": "Gang",
        "Workload": "wl",
        "Status": "Pending",
        "Age": "90s",
    }
    assert shown(WORKLOAD, {}) == {"Name": "x", "Age": "90s"}
    assert shown(NAMESPACE, {"status": {"phase": "Active"}}) == {
        "Name": "x",
        "Status": "Active",
        "Age": "90s",
    }
    assert shown(LEASE, {"spec": {"holderIdentity": "me"}}) == {"Name": "x", "Holder": "me", "Age": "90s"}
    assert shown(PRIORITY_CLASS, {"value": 7, "preemptionPolicy": "Never"}) == {
        "Name": "x",
        "Value": 7,
        "Global-Default": False,
        "Age": "90s",
        "PreemptionPolicy": "Never",
    }
    assert shown(
        POD_DISRUPTION_BUDGET, {"spec": {"minAvailable": 0}, "status": {"disruptionsAllowed": 2}}
    ) == {
        "Name": "x",
        "Min Available": 0,
        "Max Unavailable": "N/A",
        "Allowed Disruptions": 2,
        "Age": "90s",
    }


def test_a_volume_shows_its_size_and_its_claim():
    spec = {
        "capacity": {"storage": "5Gi"},
        "accessModes": ["ReadOnlyMany", "ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": {"namespace": "team", "name": "data"},
        "storageClassName": "fast",
        "volumeMode": "Filesystem",
    }
    assert shown(PERSISTENT_VOLUME, {"spec": spec, "status": {"phase": "Bound"}}) == {
        "Name": "x",
        "Capacity": "5Gi",
        "Access Modes": "RWO,ROX",
        "Reclaim Policy": "Retain",
        "Status": "Bound",
        "Claim": "team/data",
        "StorageClass": "fast",
        "VolumeAttributesClass": "<unset>",
        "Reason": "",
        "Age": "90s",
        "VolumeMode": "Filesystem",
    }


def test_a_claim_has_a_size_once_it_has_a_volume():
    spec = {"storageClassName": "fast", "resources": {"requests": {"storage": "3Gi"}}}
    waiting = shown(PERSISTENT_VOLUME_CLAIM, {"spec": spec, "status": {"phase": "Pending"}})
    status = {"phase": "Bound", "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOncePod"]}
    bound = shown(PERSISTENT_VOLUME_CLAIM, {"spec": spec | {"volumeName": "pv-1"}, "status": status})
    assert list(waiting.values()) == ["x", "Pending", "", "", "", "fast", "<unset>", "90s", "<unset>"]
    assert list(bound.values()) == ["x", "Bound", "pv-1", "5Gi", "RWOP", "fast", "<unset>", "90s", "<unset>"]


@pytest.mark.parametrize("kind", [PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM])
def test_storage_that_is_being_deleted_is_terminating(kind):
    ending = {"metadata": METADATA | {"deletionTimestamp": "2026-01-01T11:59:00Z"}}
    assert shown(kind, ending | {"status": {"phase": "Bound"}})["Status"] == "Terminating"


def test_a_storage_class_says_whether_it_is_the_default():
    marked = {"metadata": METADATA | {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}}
    full = marked | {"provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    assert list(shown(STORAGE_CLASS, full).values()) == [
        "x (default)",
        "csi.example.com",
        "Delete",
        "WaitForFirstConsumer",
        False,
        "90s",
    ]
    assert shown(STORAGE_CLASS, {})["Name"] == "x"


def test_stateful_sets_show_how_many_pods_are_ready():
    cells = shown(STATEFUL_SET, {"spec": {"replicas": 3}, "status": {"readyReplicas": 2}})
    assert cells["Ready"] == "2/3"
    assert shown(STATEFUL_SET, {})["Ready"] == "0/0"


def test_revisions_show_what_was_made_from_them():
    owner = {"kind": "StatefulSet", "name": "web", "controller": True}
    cells = shown(CONTROLLER_REVISION, {"metadata": METADATA | {"ownerReferences": [owner]}, "revision": 4})
    assert (cells["Controller"], cells["Revision"]) == ("statefulset/web", 4)
    assert shown(CONTROLLER_REVISION, {})["Controller"] == "<none>"
