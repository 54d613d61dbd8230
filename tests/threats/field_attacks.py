"""Fields that others than the author of an object usually write: statuses, leases, bindings, reviews, annotations."""

import json

from tests.threats.attacks import JSON, MB, MERGE, PODS, create, labels, meta, numbered, path_of, pod

MANY = 20_000
NODES = "/api/v1/nodes"
GROUPS = path_of("scheduling.k8s.io/v1beta1", "podgroups")
CLAIMS = path_of("resource.k8s.io/v1", "resourceclaims")
LEASES = path_of("coordination.k8s.io/v1", "leases")


def status(path, obj, **fields):
    """Make an object named poison, and patch its status."""
    body = json.dumps({"status": fields}).encode()
    return [*create(path, obj), ("PATCH", f"{path}/poison/status", MERGE, body)]


def conditions(count=MANY):
    return numbered(count, lambda i: {"type": f"t{i}", "status": "True", "message": "x" * 20})


def node():
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta()}


def group(**metadata):
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    api = "scheduling.k8s.io/v1beta1"
    return {"apiVersion": api, "kind": "PodGroup", "metadata": meta(**metadata), "spec": spec}


def claim():
    requests = [{"name": "r", "exactly": {"deviceClassName": "c"}}]
    api = "resource.k8s.io/v1"
    spec = {"devices": {"requests": requests}}
    return {"apiVersion": api, "kind": "ResourceClaim", "metadata": meta(), "spec": spec}


def lease(**spec):
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta(), "spec": spec}


def noted_pod(key, value):
    return create(PODS, pod(metadata={"annotations": {key: value}}))


def sent_to(suffix, body):
    return [*create(PODS, pod()), ("POST", f"{PODS}/poison/{suffix}", JSON, json.dumps(body).encode())]


FIELD_ATTACKS = {
    "status of a pod: conditions": lambda: status(PODS, pod(), conditions=conditions()),
    "status of a pod: containers": lambda: status(
        PODS, pod(), containerStatuses=numbered(MANY, lambda i: {"name": f"c{i}", "restartCount": 2**31 - 1})
    ),
    "status of a pod: addresses": lambda: status(
        PODS, pod(), podIPs=numbered(MANY, lambda i: {"ip": f"10.0.{i // 250}.{i % 250}"})
    ),
    "status of a pod: a long node": lambda: status(PODS, pod(), nominatedNodeName="n" * MB),
    "status of a pod: an odd phase": lambda: status(PODS, pod(), phase="x" * MB),
    "status of a pod: claims": lambda: status(
        PODS, pod(), resourceClaimStatuses=numbered(MANY, lambda i: {"name": f"c{i}"})
    ),
    "status of a node: conditions": lambda: status(NODES, node(), conditions=conditions()),
    "status of a node: volumes in use": lambda: status(
        NODES, node(), volumesInUse=numbered(MANY, lambda i: f"v{i}")
    ),
    "status of a node: no room": lambda: status(NODES, node(), allocatable={"cpu": "-1", "pods": "-5"}),
    "status of a node: resources": lambda: status(NODES, node(), allocatable=labels(MANY, "example.com/r{}")),
    "status of a group: conditions": lambda: status(GROUPS, group(), conditions=conditions()),
    "status of a claim: reserved for": lambda: status(
        CLAIMS,
        claim(),
        reservedFor=numbered(MANY, lambda i: {"resource": "pods", "name": f"p{i}", "uid": f"u{i}"}),
    ),
    "status of a claim: results": lambda: status(
        CLAIMS,
        claim(),
        allocation={
            "devices": {
                "results": numbered(
                    MANY, lambda i: {"request": "r", "driver": "d.e", "pool": "p", "device": f"d{i}"}
                )
            }
        },
    ),
    "lease: lasts for ever": lambda: create(
        LEASES, lease(holderIdentity="h" * MB, leaseDurationSeconds=2**31 - 1)
    ),
    "lease: of a node": lambda: create(
        path_of("coordination.k8s.io/v1", "leases", "/namespaces/kube-node-lease"),
        lease(holderIdentity="node-0001", leaseDurationSeconds=1),
    ),
    "binding: an odd node": lambda: sent_to("binding", {"target": {"kind": "Node", "name": "n" * MB}}),
    "binding: annotations": lambda: sent_to(
        "binding",
        {"metadata": {"annotations": labels(MANY)}, "target": {"kind": "Node", "name": "node-0001"}},
    ),
    "eviction: options": lambda: sent_to(
        "eviction",
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": "poison"},
            "deleteOptions": {"gracePeriodSeconds": 2**63 - 1, "dryRun": ["All"] * MANY},
        },
    ),
    "annotation: runs for more than ever": lambda: noted_pod("posse.dev/run-seconds", "1e999"),
    "annotation: runs for no number": lambda: noted_pod("posse.dev/run-seconds", "nan"),
    "annotation: expected for long": lambda: noted_pod("posse.dev/expected-duration", "9" * 100_000 + "h"),
    "annotation: expected for many units": lambda: noted_pod("posse.dev/expected-duration", "1s" * 100_000),
    "annotation: exit code": lambda: noted_pod("posse.dev/exit-code", "9" * 5000),
    "annotation: of a group": lambda: create(
        GROUPS, group(annotations={"posse.dev/expected-duration": "1h" * 100_000})
    ),
    "annotation: of a node": lambda: create(
        NODES, node() | {"metadata": meta(annotations={"posse.dev/failure": "crash" * 50_000})}
    ),
    "pod: the largest skew": lambda: create(
        PODS,
        pod(
            topologySpreadConstraints=[
                {"maxSkew": 2**31 - 1, "minDomains": 2**31 - 1, "topologyKey": "k", "labelSelector": {}}
                | {"whenUnsatisfiable": "DoNotSchedule"}
            ]
        ),
    ),
    "pod: a priority of its own": lambda: create(PODS, pod(priority=2**31 - 1, preemptionPolicy="Never")),
    "pod: selects by a long text": lambda: create(PODS, pod(nodeSelector={"k": "v" * MB})),
    "pod: tolerates a long text": lambda: create(PODS, pod(tolerations=[{"key": "k" * MB}])),
    "pod: a group of a long name": lambda: create(PODS, pod(schedulingGroup={"podGroupName": "g" * MB})),
}
"""Requests that each attack sends, by name."""
