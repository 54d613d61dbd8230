"""What a pod looks like once Kubernetes has filled it in."""

import pytest

from posse.kinds.registry import POD


def pod(**spec):
    return {"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}


def created(obj):
    POD.rules.default(obj)
    POD.rules.prepare_create(obj)
    return obj


def test_minimal_pod():
    assert created(pod(containers=[{"name": "c", "image": "busybox", "ports": [{"containerPort": 80}]}])) == {
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "busybox",
                    "imagePullPolicy": "Always",
                    "ports": [{"containerPort": 80, "protocol": "TCP"}],
                    "resources": {},
                    "terminationMessagePath": "/dev/termination-log",
                    "terminationMessagePolicy": "File",
                }
            ],
            "dnsPolicy": "ClusterFirst",
            "enableServiceLinks": True,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {},
            "terminationGracePeriodSeconds": 30,
        },
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    }


def test_what_is_set_stays():
    spec = {
        "containers": [],
        "dnsPolicy": "Default",
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "schedulerName": "other",
        "securityContext": {"runAsUser": 1},
        "terminationGracePeriodSeconds": 0,
    }
    obj = pod(**spec)
    POD.rules.default(obj)
    assert obj["spec"] == spec


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("busybox", "Always"),
        ("busybox:latest", "Always"),
        ("busybox:1.36", "IfNotPresent"),
        ("registry:5000/busybox", "Always"),
        ("registry:5000/busybox:1", "IfNotPresent"),
        ("busybox@sha256:abc", "IfNotPresent"),
        (None, "Always"),
    ],
)
def test_pull_policy(image, policy):
    obj = pod(initContainers=[{"name": "c", "image": image}])
    POD.rules.default(obj)
    assert obj["spec"]["initContainers"][0]["imagePullPolicy"] == policy


def test_requests_follow_limits():
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    obj = pod(containers=[{"name": "c", "resources": resources}], resources={"limits": {"cpu": 3}})
    POD.rules.default(obj)
    assert obj["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert obj["spec"]["resources"] == {"limits": {"cpu": 3}, "requests": {"cpu": 3}}


def test_host_network_opens_host_ports():
    obj = pod(hostNetwork=True, containers=[{"name": "c", "ports": [{"containerPort": 80}]}])
    POD.rules.default(obj)
    assert obj["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]


def test_gated_pod_says_so():
    status = created(pod(schedulingGates=[{"name": "example.com/wait"}]))["status"]
    assert status["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
    ]


def test_status_of_the_creator_is_ignored():
    obj = pod() | {"status": {"phase": "Running", "podIP": "1.2.3.4"}}
    assert created(obj)["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ([{}], "BestEffort"),
        ([{"requests": {"cpu": "0"}}], "BestEffort"),
        ([{"requests": {"example.com/gpu": "1"}}], "BestEffort"),
        ([{"requests": {"cpu": "1"}}], "Burstable"),
        ([{"limits": BOTH}], "Guaranteed"),
        ([{"limits": BOTH, "requests": {"cpu": "1000m", "memory": "1024Mi"}}], "Guaranteed"),
        ([{"limits": BOTH, "requests": {"cpu": "500m"}}], "Burstable"),
        ([{"limits": {"cpu": "1"}}], "Burstable"),
        ([{"limits": BOTH}, {}], "Burstable"),
        ([{"limits": {"cpu": "what"}}], "BestEffort"),
    ],
)
def test_quality_of_service(resources, quality):
    containers = [{"name": f"c{index}", "resources": item} for index, item in enumerate(resources)]
    assert created(pod(containers=containers))["status"]["qosClass"] == quality


def test_quality_of_service_of_pod_level_resources():
    obj = pod(containers=[{"name": "c"}], resources={"limits": BOTH})
    assert created(obj)["status"]["qosClass"] == "Guaranteed"


def test_quality_of_service_survives_status_updates():
    old = {
        "metadata": {"name": "p"},
        "spec": {"a": 1},
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    }
    new = {"metadata": {"name": "p", "labels": {"l": "1"}}, "spec": {}, "status": {"phase": "Running"}}
    POD.rules.prepare_status_update(new, old)
    assert new == {
        "metadata": {"name": "p", "labels": {"l": "1"}},
        "spec": {"a": 1},
        "status": {"phase": "Running", "qosClass": "Burstable"},
    }


@pytest.mark.parametrize(
    "spec",
    ["text", [], {"containers": "x"}, {"containers": [1]}, {"containers": [{"resources": 7, "ports": {}}]}],
)
def test_malformed_pods_are_left_for_decoding_to_refuse(spec):
    created({"metadata": {}, "spec": spec})
