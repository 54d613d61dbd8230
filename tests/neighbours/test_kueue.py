"""Kueue admits gang Jobs by quota, and Posse starts them whole."""

import json

import pytest

from tests.cluster.cluster_api import wait_until
from tests.neighbours.guide import ROOT, run_guide
from tools.neighbours.projects import KUEUE_PROJECT

pytestmark = pytest.mark.cluster

UP = ("--nodes", "4")
PROJECTS = (KUEUE_PROJECT,)


def got(kubectl, what):
    return json.loads(kubectl(f"get {what} -o json"))


def test_the_guide_goes_as_it_says(up, kubectl):
    told = run_guide("kueue", kubectl, up.kubeconfig)
    assert "first" in told["posse gangs"]
    kubectl("delete job --all")


def test_a_job_that_is_not_admitted_has_no_pods_and_an_admitted_one_is_a_gang(kubectl):
    kubectl("apply -f", str(ROOT / "examples" / "neighbours" / "kueue.yaml"))
    wait_until(lambda: got(kubectl, "job first").get("status", {}).get("active") == 4, "the first Job")
    assert got(kubectl, "job second")["spec"]["suspend"]
    pods = got(kubectl, "pods")["items"]
    assert {pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] for pod in pods} == {"first"}
    [group] = [
        item
        for item in got(kubectl, "podgroups.scheduling.k8s.io")["items"]
        if item["metadata"]["ownerReferences"][0]["name"] == "first"
    ]
    assert group["spec"]["schedulingPolicy"]["gang"]["minCount"] == 4
    assert {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in pods} == {group["metadata"]["name"]}
    kubectl("wait --for=condition=Complete job/first --timeout=25s")
    kubectl("wait --for=condition=Complete job/second --timeout=25s")
