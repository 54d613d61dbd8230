"""JobSets from creation to their end, with scheduler, simulated nodes and all controllers at work."""

import asyncio
import time

import pytest

from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.kinds.registry import COMPOSITE_POD_GROUP, EVENT, JOB, JOB_SET, POD, POD_GROUP, SERVICE, WORKLOAD
from posse.model.feature_gates import ALL_GATES
from posse.runtime.control import work_queue
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.embedded.bootstrap import ensure_nodes
from posse.runtime.embedded.cluster import embedded_reconcilers
from posse.runtime.embedded.simulated_nodes import SimulatedNodes
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.transport.patches import MERGE_PATCH, Patch

NODE_COUNT = 2
CPUS_PER_POD = "8"


async def run(lab):
    """Two nodes of 32 CPUs, on which four pods each have room."""
    await ensure_nodes(lab.transport, NODE_COUNT, (), time.time())
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time).run())
        tasks.create_task(SimulatedNodes(lab.transport, time.time).run())
        reconcilers = embedded_reconcilers(ALL_GATES)
        tasks.create_task(ReconcilerRunner(lab.transport, reconcilers, time.time).run())


def replicated_job(name, pods=2, run_seconds="0", exit_code="0", **fields):
    annotations = {"posse.dev/run-seconds": run_seconds, "posse.dev/exit-code": exit_code}
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": CPUS_PER_POD}}}
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [container]}
    spec = {"parallelism": pods, "completions": pods, "backoffLimit": 0}
    template = {"spec": {**spec, "template": {"metadata": {"annotations": annotations}, "spec": pod}}}
    return {"name": name, "template": template, **fields}


def jobset(*jobs, name="js", **spec):
    return {"metadata": {"name": name}, "spec": {"replicatedJobs": list(jobs), **spec}}


def listed(lab, kind):
    return lab.service.list(kind, "default").items


def names(lab, kind):
    return sorted(obj["metadata"]["name"] for obj in listed(lab, kind))


def status_of(lab, name="js"):
    return (lab.find(JOB_SET, "default", name) or {}).get("status", {})


def conditions_of(lab, name="js"):
    conditions = status_of(lab, name).get("conditions", [])
    return {item["type"]: item["reason"] for item in conditions if item["status"] == "True"}


def running(lab):
    return [pod for pod in listed(lab, POD) if pod["status"]["phase"] == "Running"]


async def change(lab, spec, name="js"):
    await lab.transport.patch(JOB_SET, "default", name, Patch(MERGE_PATCH, {"spec": spec}))


GANG = {"gangMode": "Gang"}
REPLICATED_GANG = {"gangMode": "ReplicatedGang"}


def test_a_jobset_runs_its_jobs_to_completion(in_lab):
    async def scenario(lab):
        made = jobset(replicated_job("driver", pods=1), replicated_job("workers", replicas=2))
        await lab.transport.create(JOB_SET, "default", made)
        await lab.until(lambda: "Completed" in conditions_of(lab))
        assert status_of(lab)["terminalState"] == "Completed"
        assert names(lab, JOB) == ["js-driver-0", "js-workers-0", "js-workers-1"]
        assert names(lab, SERVICE) == ["js"]
        assert names(lab, WORKLOAD) == names(lab, POD_GROUP) == []
        succeeded = {item["name"]: item["succeeded"] for item in status_of(lab)["replicatedJobsStatus"]}
        assert succeeded == {"driver": 1, "workers": 2}
        reasons = {event["reason"] for event in listed(lab, EVENT)}
        await lab.until(
            lambda: "AllJobsCompleted" in {event["reason"] for event in listed(lab, EVENT)} | reasons
        )

    in_lab(scenario, run)


@pytest.mark.parametrize(
    ("whole", "part", "groups"),
    [
        (GANG, None, ["pg-js"]),
        (None, GANG, ["js-pg-driver", "js-pg-workers"]),
        (None, REPLICATED_GANG, ["js-pg-driver-0", "js-pg-workers-0", "js-pg-workers-1"]),
    ],
)
def test_gangs_run_to_completion_and_leave_nothing_when_deleted(in_lab, whole, part, groups):
    async def scenario(lab):
        jobs = [replicated_job("driver", pods=1), replicated_job("workers", replicas=2)]
        if part:
            jobs = [{**job, "gangConfig": part} for job in jobs]
        made = jobset(*jobs, **({"gangConfig": whole} if whole else {}))
        await lab.transport.create(JOB_SET, "default", made)
        await lab.until(lambda: "Completed" in conditions_of(lab))
        assert names(lab, WORKLOAD) == ["w-js"]
        assert names(lab, POD_GROUP) == groups
        assert all(pod["spec"]["schedulingGroup"]["podGroupName"] in groups for pod in listed(lab, POD))
        await lab.transport.delete(JOB_SET, "default", "js", propagation="Background")
        kinds = (JOB_SET, JOB, POD, POD_GROUP, WORKLOAD, SERVICE)
        await lab.until(lambda: not any(names(lab, kind) for kind in kinds))

    in_lab(scenario, run)


def test_a_tree_of_gangs_runs_to_completion_and_leaves_nothing_when_deleted(in_lab):
    async def scenario(lab):
        settings = {"disruptionMode": {"all": {}}}
        jobs = [replicated_job("driver", pods=1), replicated_job("workers", replicas=2, gangConfig=settings)]
        await lab.transport.create(JOB_SET, "default", jobset(*jobs, gangConfig=GANG))
        await lab.until(lambda: "Completed" in conditions_of(lab))
        assert names(lab, COMPOSITE_POD_GROUP) == ["pg-js"]
        assert names(lab, POD_GROUP) == ["js-pg-driver", "js-pg-workers"]
        await lab.transport.delete(JOB_SET, "default", "js", propagation="Background")
        kinds = (JOB_SET, JOB, POD, POD_GROUP, COMPOSITE_POD_GROUP, WORKLOAD, SERVICE)
        await lab.until(lambda: not any(names(lab, kind) for kind in kinds))

    in_lab(scenario, run)


def test_a_gang_that_does_not_fit_waits_as_a_whole(in_lab):
    async def scenario(lab):
        jobs = [replicated_job("small", run_seconds="600"), replicated_job("big", replicas=2, pods=4)]
        await lab.transport.create(JOB_SET, "default", jobset(*jobs, gangConfig=GANG))
        await lab.until(lambda: len(listed(lab, POD)) == 10)
        await lab.until(lambda: (lab.find(POD_GROUP, "default", "pg-js") or {}).get("status"))
        assert not any(pod["spec"].get("nodeName") for pod in listed(lab, POD))

    in_lab(scenario, run)


@pytest.mark.parametrize("strategy", ["Recreate", "BlockingRecreate"])
def test_a_restart_makes_new_groups_and_never_mixes_runs(in_lab, strategy):
    async def scenario(lab):
        jobs = [
            replicated_job("driver", pods=1, run_seconds="0.3", exit_code="1"),
            replicated_job("workers", run_seconds="600", replicas=2),
        ]
        policy = {"maxRestarts": 1, "restartStrategy": strategy}
        await lab.transport.create(JOB_SET, "default", jobset(*jobs, gangConfig=GANG, failurePolicy=policy))
        first = await lab.until(lambda: lab.find(POD_GROUP, "default", "pg-js"))
        await lab.until(lambda: len(running(lab)) >= 4)
        await lab.until(lambda: status_of(lab).get("restarts") == 1)
        await lab.until(
            lambda: (
                len(running(lab)) >= 4
                and {pod["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"] for pod in running(lab)}
                == {"1"}
            )
        )
        second = lab.find(POD_GROUP, "default", "pg-js")
        assert second["metadata"]["uid"] != first["metadata"]["uid"]
        await lab.until(lambda: conditions_of(lab).get("Failed") == "ReachedMaxRestarts")
        await lab.until(lambda: not running(lab))

    in_lab(scenario, run)


def test_a_suspended_jobset_gives_up_its_pods_and_goes_on_when_resumed(in_lab):
    async def scenario(lab):
        jobs = [replicated_job("workers", run_seconds="600", replicas=2, gangConfig=GANG)]
        await lab.transport.create(JOB_SET, "default", jobset(*jobs))
        await lab.until(lambda: len(running(lab)) == 4)
        await change(lab, {"suspend": True})
        await lab.until(lambda: not listed(lab, POD) and not listed(lab, POD_GROUP))
        assert conditions_of(lab) == {"Suspended": "SuspendedJobs"}
        assert all(job["spec"]["suspend"] for job in listed(lab, JOB))
        await change(lab, {"suspend": False})
        await lab.until(lambda: len(running(lab)) == 4)
        await lab.until(lambda: not conditions_of(lab))

    in_lab(scenario, run)


def test_a_gang_grows_as_a_whole_or_not_at_all(in_lab):
    async def scenario(lab):
        def of(pods):
            return replicated_job("workers", pods=pods, run_seconds="600", replicas=2, gangConfig=GANG)

        await lab.transport.create(JOB_SET, "default", jobset(of(2)))
        await lab.until(lambda: len(running(lab)) == 4)
        jobs = lab.find(JOB_SET, "default", "js")["spec"]["replicatedJobs"]
        for pods, expected in ((5, 4), (4, 8), (3, 6)):
            jobs = [{**jobs[0], "template": of(pods)["template"]}]
            await change(lab, {"replicatedJobs": jobs})
            await lab.until(lambda n=pods: len(listed(lab, POD)) == 2 * n)
            await lab.until(lambda n=expected: len(running(lab)) == n)

    in_lab(scenario, run)


@pytest.mark.parametrize("status", ["Ready", "Complete"])
def test_gangs_that_depend_on_each_other_start_one_after_the_other(in_lab, status):
    async def scenario(lab):
        dependency = [{"name": "first", "status": status}]
        jobs = [
            replicated_job("first", run_seconds="1", replicas=2),
            replicated_job("second", dependsOn=dependency),
        ]
        await lab.transport.create(JOB_SET, "default", jobset(*jobs, gangConfig=GANG))
        await lab.until(lambda: names(lab, JOB) == ["js-first-0", "js-first-1"])
        assert names(lab, POD_GROUP) == ["js-pg-first", "js-pg-second"]
        await lab.until(lambda: "Completed" in conditions_of(lab))

    in_lab(scenario, run)


def test_jobs_start_in_order(in_lab):
    async def scenario(lab):
        jobs = [replicated_job(name, run_seconds="2", pods=1) for name in ("a", "b")]
        made = jobset(*jobs, gangConfig=GANG, startupPolicy={"startupPolicyOrder": "InOrder"})
        await lab.transport.create(JOB_SET, "default", made)
        await lab.until(lambda: "StartupPolicyInProgress" in conditions_of(lab))
        await lab.until(lambda: "StartupPolicyCompleted" in conditions_of(lab))
        assert "StartupPolicyInProgress" not in conditions_of(lab)
        await lab.until(lambda: "Completed" in conditions_of(lab))

    in_lab(scenario, run)


@pytest.mark.parametrize("config", [{}, {"gangConfig": GANG}])
def test_each_job_may_have_a_domain_to_itself(in_lab, config):
    async def scenario(lab):
        made = jobset(replicated_job("workers", run_seconds="600", replicas=3), **config)
        made["metadata"]["annotations"] = {
            "alpha.jobset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"
        }
        await lab.transport.create(JOB_SET, "default", made)
        await lab.until(lambda: len(listed(lab, POD)) == 6)
        if config:
            # Three Jobs and two nodes: as one gang they never start.
            await lab.until(lambda: (lab.find(POD_GROUP, "default", "pg-js") or {}).get("status"))
            assert not running(lab)
            return
        await lab.until(lambda: len(running(lab)) == 4)
        homes = {(pod["metadata"]["labels"]["job-name"], pod["spec"]["nodeName"]) for pod in running(lab)}
        assert len(homes) == len({node for _, node in homes}) == 2

    in_lab(scenario, run)


def test_a_finished_jobset_goes_when_its_time_has_come(in_lab):
    async def scenario(lab):
        made = jobset(replicated_job("workers", gangConfig=GANG), ttlSecondsAfterFinished=1)
        await lab.transport.create(JOB_SET, "default", made)
        await lab.until(lambda: "Completed" in conditions_of(lab))
        await lab.until(
            lambda: not any(names(lab, kind) for kind in (JOB_SET, JOB, POD, POD_GROUP, WORKLOAD))
        )

    in_lab(scenario, run)


def user_workload(minimum, name="w-js", template="pg-workers"):
    reference = {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "js"}
    templates = [{"name": template, "schedulingPolicy": {"gang": {"minCount": minimum}}}]
    return {"metadata": {"name": name}, "spec": {"controllerRef": reference, "podGroupTemplates": templates}}


def test_the_workload_of_a_user_is_taken_as_it_is(in_lab):
    async def scenario(lab):
        made = await lab.transport.create(WORKLOAD, "default", user_workload(2, name="mine"))
        jobs = [replicated_job("workers", replicas=2, gangConfig=GANG)]
        await lab.transport.create(JOB_SET, "default", jobset(*jobs))
        # Once pods have ended, minCount follows the work that is left.
        await lab.until(lambda: listed(lab, POD_GROUP))
        (group,) = listed(lab, POD_GROUP)
        assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
        assert group["spec"]["workloadRef"] == {"workloadName": "mine", "templateName": "pg-workers"}
        await lab.until(lambda: "Completed" in conditions_of(lab))
        await lab.transport.delete(JOB_SET, "default", "js", propagation="Background")
        await lab.until(lambda: not names(lab, POD_GROUP))
        assert listed(lab, WORKLOAD) == [made]

    in_lab(scenario, run)


def test_a_workload_that_does_not_fit_keeps_everything_from_being_made(in_lab):
    async def scenario(lab):
        await lab.transport.create(WORKLOAD, "default", user_workload(5))
        jobs = [replicated_job("workers", replicas=2, gangConfig=GANG)]
        await lab.transport.create(JOB_SET, "default", jobset(*jobs))
        await lab.until(lambda: conditions_of(lab).get("GangBlocked") == "WorkloadMismatch")
        (condition,) = status_of(lab)["conditions"]
        assert condition["message"] == "Workload w-js wants 5 pods in pg-workers, but there will be 4"
        assert not any(listed(lab, kind) for kind in (JOB, POD_GROUP, SERVICE))
        await lab.transport.delete(WORKLOAD, "default", "w-js")
        await lab.until(lambda: "Completed" in conditions_of(lab))
        assert "GangBlocked" not in conditions_of(lab)

    in_lab(scenario, run)


def test_a_job_in_the_place_of_one_of_its_own_is_told(in_lab, monkeypatch):
    monkeypatch.setattr(work_queue, "RETRY_SECONDS", 0.02)

    async def scenario(lab):
        theirs = {"metadata": {"name": "js-workers-0"}, "spec": replicated_job("workers")["template"]["spec"]}
        await lab.transport.create(JOB, "default", theirs)
        await lab.transport.create(JOB_SET, "default", jobset(replicated_job("workers"), gangConfig=GANG))
        await lab.until(lambda: conditions_of(lab).get("JobsBlocked") == "JobConflict")
        (condition,) = status_of(lab)["conditions"]
        assert condition["message"] == "Job js-workers-0 exists and is not of this JobSet"
        await asyncio.sleep(0.2)
        failures = [event for event in listed(lab, EVENT) if event["reason"] == "JobCreationFailed"]
        assert len(failures) == 1
        await lab.transport.delete(JOB, "default", "js-workers-0", propagation="Background")
        await lab.until(lambda: "Completed" in conditions_of(lab))
        assert "JobsBlocked" not in conditions_of(lab)

    in_lab(scenario, run)
