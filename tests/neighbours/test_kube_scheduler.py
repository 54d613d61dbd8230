"""kube-scheduler and Posse on the same nodes, each with its own pods, in a race for capacity that is too small for both."""

import json
from collections import Counter

import pytest
import yaml

from posse.control_plane.arguments import PlaneOptions, scheduler_arguments, scheduler_configuration
from posse.control_plane.assets import NATIVE, find_program
from posse.control_plane.program import Program
from tests.cluster.cluster_api import wait_until
from tests.neighbours.guide import ROOT, run_guide

pytestmark = pytest.mark.cluster

NODES = 4
GPUS = 8
UP = ("--nodes", str(NODES), "--config", str(ROOT / "examples" / "neighbours" / "posse-only.yaml"))
ROUNDS = 6
PATIENCE_SECONDS = 240.0


@pytest.fixture(scope="module", autouse=True)
def kube_scheduler(up, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kube-scheduler")
    configuration = folder / "scheduler.yaml"
    configuration.write_text(yaml.safe_dump(scheduler_configuration(up.kubeconfig)))
    command = [
        find_program(NATIVE, "kube-scheduler"),
        *scheduler_arguments(PlaneOptions(), configuration),
    ]
    scheduler = Program("kube-scheduler", command, folder / "kube-scheduler.log")
    scheduler.start()
    yield
    scheduler.stop()


def listed(kubectl, kind):
    return json.loads(kubectl(f"get {kind} -o json"))["items"]


def is_complete(job):
    return any(
        item["type"] == "Complete" and item["status"] == "True"
        for item in job.get("status", {}).get("conditions", [])
    )


def relax(kubectl, job):
    """As the guide says: pods that have ended do not count, so a Job that made some again needs fewer at once."""
    left = job["spec"]["completions"] - job.get("status", {}).get("succeeded", 0)
    policy = job["spec"].get("scheduling", {}).get("schedulingPolicy", {})
    if "gang" in policy and 0 < left < policy["gang"].get("minCount", job["spec"]["parallelism"]):
        change = {"spec": {"scheduling": {"schedulingPolicy": {"gang": {"minCount": left}}}}}
        kubectl(f"patch job {job['metadata']['name']} --type=merge -p", json.dumps(change))


def gpus_in_use(kubectl):
    """GPUs of running pods, by node."""
    used = Counter()
    for pod in listed(kubectl, "pods"):
        if pod["status"]["phase"] == "Running":
            requests = pod["spec"]["containers"][0]["resources"]["requests"]
            used[pod["spec"]["nodeName"]] += int(requests["nvidia.com/gpu"])
    return used


def test_the_guide_goes_as_it_says(up, kubectl):
    run_guide("kube-scheduler", kubectl, up.kubeconfig)
    kubectl("delete job --all")


def test_a_race_for_too_little_capacity_ends_well(kubectl):
    """Twelve Jobs ask at once for six times what there is. All complete, and no node ever runs too much."""
    template = list(
        yaml.safe_load_all((ROOT / "examples" / "neighbours" / "two-schedulers.yaml").read_text())
    )
    jobs = []
    for number in range(ROUNDS):
        for job in template:
            named = job["metadata"] | {"name": f"{job['metadata']['name']}-{number}"}
            jobs.append(job | {"metadata": named})
    kubectl("apply -f -", manifest=yaml.safe_dump_all(jobs))

    def all_complete():
        assert all(count <= GPUS for count in gpus_in_use(kubectl).values())
        waiting = [job for job in listed(kubectl, "jobs") if not is_complete(job)]
        for job in waiting:
            relax(kubectl, job)
        return not waiting

    wait_until(all_complete, "all Jobs", PATIENCE_SECONDS)
    schedulers = Counter(pod["spec"]["schedulerName"] for pod in listed(kubectl, "pods"))
    assert schedulers["posse"] >= 4 * ROUNDS
    assert schedulers["default-scheduler"] >= 4 * ROUNDS
