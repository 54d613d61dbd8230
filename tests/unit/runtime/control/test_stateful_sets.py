"""StatefulSets with scheduler, simulated nodes, controller and garbage collector at work."""

import asyncio
import time

from posse.controllers.garbage_collection import GarbageCollector
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.kinds.registry import CONTROLLER_REVISION, EVENT, POD, STATEFUL_SET
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.embedded.bootstrap import ensure_nodes
from posse.runtime.embedded.simulated_nodes import SimulatedNodes
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.transport.patches import MERGE_PATCH, Patch


async def run(lab):
    await ensure_nodes(lab.transport, 2, (), time.time())
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time).run())
        tasks.create_task(SimulatedNodes(lab.transport, time.time).run())
        reconcilers = [StatefulSetController(), GarbageCollector()]
        tasks.create_task(ReconcilerRunner(lab.transport, reconcilers, time.time).run())


def stateful_set(**spec):
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "app:1"}], "terminationGracePeriodSeconds": 1},
    }
    selector = {"matchLabels": {"app": "web"}}
    return {"metadata": {"name": "web"}, "spec": {"selector": selector, "template": template, **spec}}


def status_of(lab):
    return (lab.find(STATEFUL_SET, "default", "web") or {}).get("status", {})


def pods(lab):
    return {pod["metadata"]["name"]: pod for pod in lab.service.list(POD, "default").items}


async def patch(lab, spec):
    await lab.transport.patch(STATEFUL_SET, "default", "web", Patch(MERGE_PATCH, {"spec": spec}))


def is_settled(lab, replicas):
    status = status_of(lab)
    counts = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "currentReplicas")
    generation = lab.find(STATEFUL_SET, "default", "web")["metadata"]["generation"]
    is_current = status.get("observedGeneration") == generation
    return is_current and all(status.get(name) == replicas for name in counts)


def test_a_set_grows_rolls_and_shrinks(in_lab):
    async def scenario(lab):
        await lab.transport.create(STATEFUL_SET, "default", stateful_set(replicas=3))
        await lab.until(lambda: is_settled(lab, 3))
        before = {name: pod["metadata"]["uid"] for name, pod in pods(lab).items()}
        template = stateful_set()["spec"]["template"]
        template["spec"]["containers"][0]["image"] = "app:2"
        await patch(lab, {"template": template})
        await lab.until(lambda: is_settled(lab, 3))
        assert {pod["spec"]["containers"][0]["image"] for pod in pods(lab).values()} == {"app:2"}
        assert not set(before.values()) & {pod["metadata"]["uid"] for pod in pods(lab).values()}
        assert len(lab.service.list(CONTROLLER_REVISION, "default").items) == 2
        await patch(lab, {"replicas": 1})
        await lab.until(lambda: is_settled(lab, 1))
        assert set(pods(lab)) == {"web-0"}
        await lab.transport.delete(STATEFUL_SET, "default", "web")
        await lab.until(lambda: not pods(lab))
        await lab.until(lambda: not lab.service.list(CONTROLLER_REVISION, "default").items)

    in_lab(scenario, run)


def test_a_deleted_pod_comes_back_under_its_name(in_lab):
    async def scenario(lab):
        await lab.transport.create(
            STATEFUL_SET, "default", stateful_set(replicas=3, podManagementPolicy="Parallel")
        )
        await lab.until(lambda: is_settled(lab, 3))
        uid = pods(lab)["web-1"]["metadata"]["uid"]
        await lab.transport.delete(POD, "default", "web-1")
        await lab.until(lambda: "web-1" in pods(lab) and pods(lab)["web-1"]["metadata"]["uid"] != uid)
        await lab.until(lambda: is_settled(lab, 3))

    in_lab(scenario, run)


def test_a_pod_that_cannot_be_made_is_told_as_an_event(in_lab):
    async def scenario(lab):
        stranger = {"metadata": {"name": "web-0"}, "spec": {"containers": [{"name": "m", "image": "i"}]}}
        await lab.transport.create(POD, "default", stranger)
        await lab.transport.create(STATEFUL_SET, "default", stateful_set())
        event, *_ = await lab.until(
            lambda: [
                event
                for event in lab.service.list(EVENT, "default").items
                if event["reason"] == "FailedCreate"
            ]
        )
        assert event["involvedObject"]["name"] == "web"
        assert 'pods "web-0" already exists' in event["message"]

    in_lab(scenario, run)
