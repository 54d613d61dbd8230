"""Jobs from creation to their end, with scheduler, simulated nodes, Job controller and garbage collector at work."""

import asyncio
import time

import pytest

from posse.engine.engine import Engine, EngineOptions
from posse.kinds.registry import EVENT, JOB, POD
from posse.runtime.furnishing import ensure_nodes
from posse.runtime.garbage_control import GarbageControl
from posse.runtime.job_control import JobControl
from posse.runtime.scheduler import SchedulerLoop
from posse.runtime.simulated_nodes import SimulatedNodes


async def run(lab):
    await ensure_nodes(lab.transport, 2, (), time.time())
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time).run())
        tasks.create_task(SimulatedNodes(lab.transport, time.time).run())
        tasks.create_task(JobControl(lab.transport, time.time).run())
        tasks.create_task(GarbageControl(lab.transport).run())


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
        assert conditions_of(lab)["Failed"] == "BackoffLimitExceeded"
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


def test_a_pod_that_cannot_be_made_is_told_and_tried_again(in_lab):
    async def scenario(lab):
        made = job()
        made["spec"]["template"]["spec"]["priorityClassName"] = "nowhere"
        await lab.transport.create(JOB, "default", made)
        events = await lab.until(lambda: lab.service.list(EVENT, "default").items)
        assert events[0]["reason"] == "FailedCreate"
        assert "no PriorityClass with name nowhere" in events[0]["message"]

    in_lab(scenario, run)
