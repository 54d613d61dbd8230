"""Jobs by kubectl: made without a manifest, looked at, waited for, and deleted with or without their pods."""

import json
import time

import pytest

pytestmark = pytest.mark.kubectl

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: sleepers}
spec:
  completions: 3
  parallelism: 3
  completionMode: Indexed
  template:
    metadata: {annotations: {posse.dev/run-seconds: "600"}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "registry.example/sleep:1"}]
"""


def pods(kubectl):
    return json.loads(kubectl("get pods -o json"))["items"]


def wait_until(holds):
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_job_made_without_a_manifest_completes(cluster_kubectl):
    kubectl = cluster_kubectl
    assert kubectl("create job hello --image=busybox -- echo hello") == "job.batch/hello created\n"
    kubectl("wait --for=condition=complete job/hello --timeout=20s")
    header, line = (text.split() for text in kubectl("get jobs").strip().splitlines())
    assert header == ["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"]
    assert line[:3] == ["hello", "Complete", "1/1"]
    (pod,) = pods(kubectl)
    assert pod["spec"]["containers"][0]["command"] == ["echo", "hello"]
    assert "Completions:" in kubectl("describe job hello")


@pytest.mark.parametrize("cascade", ["background", "foreground"])
def test_pods_are_deleted_with_their_job(cluster_kubectl, cascade):
    kubectl = cluster_kubectl
    kubectl("apply -f -", manifest=JOB)
    wait_until(lambda: len(pods(kubectl)) == 3)
    kubectl(f"delete job sleepers --cascade={cascade} --timeout=20s")
    wait_until(lambda: not pods(kubectl))


def test_pods_may_outlive_their_job(cluster_kubectl):
    kubectl = cluster_kubectl
    kubectl("apply -f -", manifest=JOB)
    wait_until(lambda: len(pods(kubectl)) == 3)
    kubectl("delete job sleepers --cascade=orphan --timeout=20s")
    assert [pod["metadata"].get("ownerReferences") for pod in pods(kubectl)] == [None] * 3


def test_the_template_of_a_job_is_not_changed(cluster_kubectl):
    kubectl = cluster_kubectl
    kubectl("apply -f -", manifest=JOB)
    refusal = kubectl.refused("apply -f -", manifest=JOB.replace("sleep:1", "sleep:2"))
    assert "spec.template: Invalid value" in refusal
    assert "field is immutable" in refusal
    kubectl("apply -f -", manifest=JOB)
