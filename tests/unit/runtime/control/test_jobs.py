"""Jobs from creation to their end, with scheduler, simulated nodes, Job controller and garbage collector at work."""

import asyncio
import time

import pytest

from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.kinds.registry import EVENT, JOB, POD, POD_GROUP, WORKLOAD
from posse.model.feature_gates import ALL_GATES, Gate
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.embedded.bootstrap import ensure_nodes
from posse.runtime.embedded.cluster import embedded_reconcilers
from posse.runtime.embedded.simulated_nodes import SimulatedNodes
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.transport.patches import MERGE_PATCH, Patch


async def run(lab):
    await ensure_nodes(lab.transport, 2, (), time.time())
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time).run())
        tasks.create_task(SimulatedNodes(lab.transport, time.time).run())
        reconcilers = embedded_reconcilers(ALL_GATES)
        tasks.create_task(ReconcilerRunner(lab.transport, reconcilers, time.time).run())


def job(name="j", run_seconds="0", exit_code="0", **spec):
    annotations = {"posse.dev/run-seconds": run_seconds, "posse.dev/exit-code": exit_code}
    template = {
        "metadata": {"annotations": annotations},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "app:1"}]},
    }
    return {"metadata": {"name": name}, "spec": {"template": template, **spec}}


def status_of(lab, name="j"):
    return (lab.find(JOB, "default", name) or {}).get("status", {})


def conditions_of(lab, name="j"):
    conditions = status_of(lab, name).get("conditions", [])
    return {item["type"]: item["reason"] for item in conditions if item["status"] == "True"}


def pods(lab):
    return lab.service.list(POD, "default").items


def running(lab):
    return [pod for pod in pods(lab) if pod["status"]["phase"] == "Running"]


@pytest.mark.parametrize("mode", ["Indexed", "NonIndexed"])
def test_a_job_runs_its_pods_to_completion(in_lab, mode):
    async def scenario(lab):
        await lab.transport.create(JOB, "default", job(completions=6, parallelism=4, completionMode=mode))
        await lab.until(lambda: "Complete" in conditions_of(lab))
        status = status_of(lab)
        assert status["succeeded"] == 6
        assert "active" not in status
        assert status["uncountedTerminatedPods"] == {}
        assert status.get("completedIndexes") == ("0-5" if mode == "Indexed" else None)
        assert conditions_of(lab) == dict.fromkeys(("SuccessCriteriaMet", "Complete"), "CompletionsReached")
        await lab.until(lambda: not any(pod["metadata"].get("finalizers") for pod in pods(lab)))
        assert len(pods(lab)) == 6
        await lab.until(lambda: lab.service.list(EVENT, "default").items)

    in_lab(scenario, run)


def test_a_job_fails_when_its_pods_do(in_lab):
    async def scenario(lab):
        await lab.transport.create(JOB, "default", job(exit_code="3", backoffLimit=0))
        await lab.until(lambda: "Failed" in conditions_of(lab))
        assert conditions_of(lab)["Failed"] == "BackoffLimitError"
        assert status_of(lab)["failed"] == 1

    in_lab(scenario, run)


def test_a_suspended_job_gives_up_its_pods_and_gets_new_ones_when_resumed(in_lab):
    async def scenario(lab):
        made = await lab.transport.create(
            JOB, "default", job(run_seconds="600", completions=3, parallelism=3)
        )
        await lab.until(lambda: len(running(lab)) == 3)
        await lab.until(lambda: status_of(lab).get("ready") == 3)
        found = await lab.transport.get(JOB, "default", "j")
        await lab.transport.update(JOB, "default", "j", found | {"spec": made["spec"] | {"suspend": True}})
        await lab.until(lambda: not pods(lab))
        await lab.until(lambda: "active" not in status_of(lab))
        assert conditions_of(lab) == {"Suspended": "JobSuspended"}
        assert "startTime" not in status_of(lab)
        assert "failed" not in status_of(lab)
        found = await lab.transport.get(JOB, "default", "j")
        await lab.transport.update(JOB, "default", "j", found | {"spec": made["spec"]})
        await lab.until(lambda: len(running(lab)) == 3)
        assert conditions_of(lab) == {}

    in_lab(scenario, run)


@pytest.mark.parametrize("propagation", ["", "Background", "Foreground"])
def test_the_pods_of_a_deleted_job_go_with_it(in_lab, propagation):
    async def scenario(lab):
        await lab.transport.create(JOB, "default", job(run_seconds="600", completions=3, parallelism=3))
        await lab.until(lambda: len(running(lab)) == 3)
        await lab.transport.delete(JOB, "default", "j", propagation=propagation)
        await lab.until(lambda: not pods(lab) and lab.find(JOB, "default", "j") is None)

    in_lab(scenario, run)


def test_orphaned_pods_stay_and_belong_to_nobody(in_lab):
    async def scenario(lab):
        await lab.transport.create(JOB, "default", job(run_seconds="600", completions=3, parallelism=3))
        await lab.until(lambda: len(running(lab)) == 3)
        await lab.transport.delete(JOB, "default", "j", propagation="Orphan")
        await lab.until(lambda: lab.find(JOB, "default", "j") is None)
        await lab.until(lambda: not any(pod["metadata"].get("finalizers") for pod in pods(lab)))
        assert len(running(lab)) == 3
        assert not any(pod["metadata"].get("ownerReferences") for pod in pods(lab))

    in_lab(scenario, run)


def test_a_finished_job_goes_after_its_time_to_live(in_lab):
    async def scenario(lab):
        await lab.transport.create(JOB, "default", job(ttlSecondsAfterFinished=0))
        await lab.until(lambda: lab.find(JOB, "default", "j") is None and not pods(lab))

    in_lab(scenario, run)


def warnings(lab):
    return [event for event in lab.service.list(EVENT, "default").items if event["type"] == "Warning"]


@pytest.mark.parametrize(
    ("scheduling", "reason"),
    [({"schedulingPolicy": {"gang": {}}}, "FailedPodGroupCreate"), (None, "FailedCreate")],
)
def test_what_cannot_be_made_is_told_and_tried_again(in_lab, scheduling, reason):
    async def scenario(lab):
        made = job(**({"scheduling": scheduling} if scheduling else {}))
        made["spec"]["template"]["spec"] |= {"priorityClassName": "nowhere"}
        await lab.transport.create(JOB, "default", made)
        events = await lab.until(lambda: warnings(lab))
        assert events[0]["reason"] == reason
        assert "no PriorityClass with name nowhere" in events[0]["message"]
        assert not pods(lab)

    in_lab(scenario, run)


def only(lab, kind):
    (obj,) = lab.service.list(kind, "default").items
    return obj


def test_a_job_that_asks_for_a_gang_runs_as_one(in_lab):
    async def scenario(lab):
        scheduling = {"schedulingPolicy": {"gang": {}}, "disruptionMode": {"all": {}}}
        spec = {"completions": 6, "parallelism": 4, "scheduling": scheduling}
        await lab.transport.create(JOB, "default", job(**spec))
        await lab.until(lambda: "Complete" in conditions_of(lab))
        group = only(lab, POD_GROUP)
        assert {pod["spec"]["schedulingGroup"]["podGroupName"] for pod in pods(lab)} == {
            group["metadata"]["name"]
        }
        assert group["spec"]["disruptionMode"] == {"all": {}}
        await lab.transport.delete(JOB, "default", "j", propagation="Background")
        kinds = (JOB, POD, POD_GROUP, WORKLOAD)
        await lab.until(lambda: not any(lab.service.list(kind, "default").items for kind in kinds))

    in_lab(scenario, run)


def test_the_gang_of_a_job_that_does_not_fit_waits_as_a_whole(in_lab):
    async def scenario(lab):
        scheduling = {"schedulingPolicy": {"gang": {}}}
        made = job(completions=3, parallelism=3, scheduling=scheduling)
        made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "20"}}
        await lab.transport.create(JOB, "default", made)
        await lab.until(lambda: len(pods(lab)) == 3)
        await lab.until(lambda: only(lab, POD_GROUP).get("status"))
        assert not any(pod["spec"].get("nodeName") for pod in pods(lab))

    in_lab(scenario, run)


def test_a_gang_follows_the_size_of_its_job(in_lab):
    async def scenario(lab):
        scheduling = {"schedulingPolicy": {"gang": {}}}
        spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "scheduling": scheduling}
        await lab.transport.create(JOB, "default", job(run_seconds="600", **spec))
        await lab.until(lambda: len(running(lab)) == 2)
        patch = Patch(MERGE_PATCH, {"spec": {"completions": 4, "parallelism": 4}})
        await lab.transport.patch(JOB, "default", "j", patch)
        await lab.until(lambda: len(running(lab)) == 4)
        wanted = {"gang": {"minCount": 4}}
        assert only(lab, POD_GROUP)["spec"]["schedulingPolicy"] == wanted
        assert only(lab, WORKLOAD)["spec"]["podGroupTemplates"][0]["schedulingPolicy"] == wanted

    in_lab(scenario, run)


def test_without_the_gate_jobs_have_no_groups(in_lab):
    async def background(lab):
        await ensure_nodes(lab.transport, 2, (), time.time())
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time).run())
            tasks.create_task(SimulatedNodes(lab.transport, time.time).run())
            reconcilers = embedded_reconcilers(ALL_GATES - {Gate.WORKLOAD_WITH_JOB})
            tasks.create_task(ReconcilerRunner(lab.transport, reconcilers, time.time).run())

    async def scenario(lab):
        await lab.transport.create(JOB, "default", job())
        await lab.until(lambda: "Complete" in conditions_of(lab))
        assert not lab.service.list(WORKLOAD, "default").items
        assert all("schedulingGroup" not in pod["spec"] for pod in pods(lab))

    in_lab(scenario, background)
