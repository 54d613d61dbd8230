"""The JobSet project's own controller, with Posse as scheduler and maker of gangs."""

import json

import pytest
import yaml

from tests.cluster.cluster_api import wait_until
from tests.neighbours.guide import ROOT, run_guide
from tools.neighbours.projects import JOB_SET_PROJECT

pytestmark = pytest.mark.cluster

UP = ("--nodes", "4")
PROJECTS = (JOB_SET_PROJECT,)
NOTICES_SECONDS = 60.0
EXAMPLE = ROOT / "examples" / "neighbours" / "jobset.yaml"


@pytest.fixture(autouse=True)
def noticed(up, neighbours):
    """Posse looks for other controllers every 30 s."""
    wait_until(
        lambda: "leaving jobsets.jobset.x-k8s.io to" in up.output.read_text(), "a notice", NOTICES_SECONDS
    )


def pods_of(kubectl, name):
    return json.loads(kubectl("get pods -o json -l", f"jobset.sigs.k8s.io/jobset-name={name}"))["items"]


def test_the_guide_goes_as_it_says(up, kubectl):
    run_guide("jobset", kubectl, up.kubeconfig)
    for job in json.loads(kubectl("get jobs -o json --show-managed-fields"))["items"]:
        assert job["metadata"]["managedFields"][0]["manager"] == "jobset"


def test_a_gang_larger_than_the_cluster_starts_no_pod(kubectl):
    jobset = yaml.safe_load(EXAMPLE.read_text())
    jobset["metadata"]["name"] = "large"
    jobset["spec"]["replicatedJobs"][0]["replicas"] = 3
    kubectl("apply -f -", manifest=yaml.safe_dump(jobset))
    wait_until(lambda: len(pods_of(kubectl, "large")) == 6, "its pods")
    reason = "get podgroups.scheduling.posse.dev pg-large -o jsonpath={.status.conditions[*].reason}"
    wait_until(lambda: "Unschedulable" in kubectl(reason), "the condition of the gang")
    assert not [pod for pod in pods_of(kubectl, "large") if pod["spec"].get("nodeName")]
    kubectl("delete jobset large")
