"""Jobs of the real kube-controller-manager, which makes a Workload and a PodGroup for each: Posse starts them as gangs."""

import json

import pytest

from tests.cluster.cluster_api import wait_until
from tests.cluster.manifests import gang_job, node

pytestmark = pytest.mark.cluster

ROOM = 4
"""Pods that fit on the nodes."""


@pytest.fixture(scope="module", autouse=True)
def controllers(plane, posse):
    return plane.start_controller_manager()


@pytest.fixture(autouse=True)
def nodes(api):
    api.create(node("n1", cpu="2"), node("n2", cpu="2"))
    yield
    for job in api.list("Job"):
        api.delete("Job", job["metadata"]["name"])
    wait_until(lambda: not api.list("Pod"), "the end of all pods")
    for name in ("n1", "n2"):
        api.delete("Node", name)


def pods_of(api, job):
    return api.list("Pod", label_selector=f"batch.kubernetes.io/job-name={job}")


def placed(api, job):
    return [pod for pod in pods_of(api, job) if pod["spec"].get("nodeName")]


def group_of(api, job):
    return next(
        (group for group in api.list("PodGroup") if group["metadata"]["ownerReferences"][0]["name"] == job),
        None,
    )


def is_scheduled(group):
    conditions = (group or {}).get("status", {}).get("conditions", [])
    return {item["type"]: item["status"] for item in conditions}.get("PodGroupInitiallyScheduled")


def test_a_job_starts_as_a_gang_and_completes(api):
    api.create(gang_job("train", pods=ROOM))
    wait_until(lambda: len(placed(api, "train")) == ROOM, "all pods of the Job on nodes")
    group = group_of(api, "train")
    assert group["spec"]["schedulingPolicy"]["gang"]["minCount"] == ROOM
    assert {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in placed(api, "train")} == {
        group["metadata"]["name"]
    }
    wait_until(lambda: is_scheduled(group_of(api, "train")) == "True", "the condition of the group")
    for pod in pods_of(api, "train"):
        api.report("Pod", pod["metadata"]["name"], {"phase": "Succeeded"})
    wait_until(
        lambda: api.get("Job", "train")["status"].get("succeeded") == ROOM, "the completion of the Job"
    )


def test_a_job_that_is_too_big_starts_nothing_and_says_why(api, kubectl):
    api.create(gang_job("colossus", pods=ROOM + 1))
    wait_until(lambda: is_scheduled(group_of(api, "colossus")) == "False", "a word on the group")
    assert placed(api, "colossus") == []
    name = group_of(api, "colossus")["metadata"]["name"]
    told = kubectl("describe podgroup", name)
    assert f"only {ROOM} of the {ROOM + 1} pods that must start together fit" in told
    told = kubectl("describe pod", pods_of(api, "colossus")[0]["metadata"]["name"])
    assert "FailedScheduling" in told
    assert "posse" in told
    assert "Insufficient cpu" in told
    api.create(node("n3", cpu="1"))
    wait_until(lambda: len(placed(api, "colossus")) == ROOM + 1, "the gang, once there is room")
    api.delete("Node", "n3")


def test_the_group_is_listed_as_scheduled(api, kubectl):
    api.create(gang_job("listed", pods=2))
    wait_until(lambda: is_scheduled(group_of(api, "listed")) == "True", "the condition of the group")
    [line] = [line for line in kubectl("get podgroups").splitlines() if line.startswith("listed-")]
    assert line.split()[1:4:2] == ["Gang", "Scheduled"]


def forecast_of(api, job):
    notes = ((group_of(api, job) or {}).get("metadata") or {}).get("annotations") or {}
    return json.loads(notes.get("scheduling.posse.dev/forecast", "{}"))


def test_the_limit_of_a_job_tells_when_the_next_gang_starts(api):
    limited = gang_job("limited", pods=ROOM)
    limited["spec"]["activeDeadlineSeconds"] = 3600
    api.create(limited)
    wait_until(lambda: len(placed(api, "limited")) == ROOM, "all pods of the Job on nodes")
    api.create(gang_job("next", pods=1))
    wait_until(lambda: "latest" in forecast_of(api, "next"), "a forecast for the gang that waits")
    assert placed(api, "next") == []
