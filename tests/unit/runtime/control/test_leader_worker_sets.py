"""LeaderWorkerSets with scheduler, simulated nodes, controllers and garbage collector at work."""

import asyncio
import time

import pytest

from posse.controllers.garbage_collection import GarbageCollector
from posse.controllers.group_protection import CompositeProtection, PodGroupProtection
from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.kinds.registry import (
    CONTROLLER_REVISION,
    COSCHEDULING_POD_GROUP,
    KINDS,
    LEADER_WORKER_SET,
    POD,
    POD_GROUP,
    SERVICE,
    STATEFUL_SET,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.embedded.bootstrap import ensure_nodes
from posse.runtime.embedded.simulated_nodes import SimulatedNodes
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.transport.patches import MERGE_PATCH, Patch

GPU = "nvidia.com/gpu"


async def run(lab, nodes=4):
    await ensure_nodes(lab.transport, nodes, (), time.time())
    sets = [StatefulSetController(), LeaderWorkerSetController(KINDS)]
    reconcilers = [*sets, PodGroupProtection(), CompositeProtection(), GarbageCollector()]
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time).run())
        tasks.create_task(SimulatedNodes(lab.transport, time.time).run())
        tasks.create_task(ReconcilerRunner(lab.transport, reconcilers, time.time).run())


def lws(replicas=2, size=3, gpus=4, annotations=None, template=None, **spec):
    resources = {"requests": {GPU: str(gpus)}, "limits": {GPU: str(gpus)}}
    container = {"name": "main", "image": "app:1", "resources": resources}
    worker = {"spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}
    leader_worker = {"size": size, "workerTemplate": worker, **(template or {})}
    return {
        "metadata": {"name": "serve", "annotations": annotations or {}},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": leader_worker, **spec},
    }


def listed(lab, kind):
    return {obj["metadata"]["name"]: obj for obj in lab.service.list(kind, "default").items}


def status_of(lab):
    return (lab.find(LEADER_WORKER_SET, "default", "serve") or {}).get("status", {})


def holding(lab):
    conditions = status_of(lab).get("conditions", [])
    return {item["type"] for item in conditions if item["status"] == "True"}


def is_available(lab, replicas):
    obj = lab.find(LEADER_WORKER_SET, "default", "serve")
    status = obj.get("status", {})
    is_current = status.get("observedGeneration") == obj["metadata"]["generation"]
    return is_current and "Available" in holding(lab) and status["readyReplicas"] == replicas


async def patch(lab, spec):
    await lab.transport.patch(LEADER_WORKER_SET, "default", "serve", Patch(MERGE_PATCH, {"spec": spec}))


def running(lab):
    return {name for name, pod in listed(lab, POD).items() if pod["status"]["phase"] == "Running"}


@pytest.mark.parametrize(
    ("provider", "kind"),
    [
        ("posse", POD_GROUP),
        ("volcano", VOLCANO_POD_GROUP),
        ("coscheduling", COSCHEDULING_POD_GROUP),
        ("none", None),
    ],
)
def test_a_set_becomes_available_and_goes_without_leaving_anything(in_lab, provider, kind):
    async def scenario(lab):
        annotations = {"scheduling.posse.dev/provider": provider}
        await lab.transport.create(LEADER_WORKER_SET, "default", lws(annotations=annotations))
        await lab.until(lambda: is_available(lab, 2))
        assert set(listed(lab, POD)) == {
            "serve-0",
            "serve-0-1",
            "serve-0-2",
            "serve-1",
            "serve-1-1",
            "serve-1-2",
        }
        assert set(listed(lab, STATEFUL_SET)) == {"serve", "serve-0", "serve-1"}
        assert "serve" in listed(lab, SERVICE)
        if kind is not None:
            assert len(listed(lab, kind)) == 2
        await lab.transport.delete(LEADER_WORKER_SET, "default", "serve")
        kinds = (POD, STATEFUL_SET, CONTROLLER_REVISION, WORKLOAD, POD_GROUP, VOLCANO_POD_GROUP)
        await lab.until(lambda: not any(listed(lab, item) for item in (*kinds, COSCHEDULING_POD_GROUP)))
        await lab.until(lambda: "serve" not in listed(lab, SERVICE))

    in_lab(scenario, run)


@pytest.mark.parametrize("provider", ["posse", "volcano", "coscheduling"])
def test_of_leaders_that_come_first_no_more_start_than_have_room_for_their_workers(in_lab, provider):
    async def scenario(lab):
        crowd = lws(
            replicas=6,
            size=2,
            gpus=8,
            annotations={"scheduling.posse.dev/provider": provider},
            startupPolicy="LeaderReady",
        )
        await lab.transport.create(LEADER_WORKER_SET, "default", crowd)
        await lab.until(lambda: status_of(lab).get("readyReplicas") == 2)
        bound = {name for name, pod in listed(lab, POD).items() if pod["spec"].get("nodeName")}
        leaders = {name for name in bound if name.count("-") == 1}
        assert (len(leaders), bound) == (2, leaders | {f"{leader}-1" for leader in leaders})

    in_lab(scenario, run)


def test_a_replica_is_made_anew_as_a_whole(in_lab):
    async def scenario(lab):
        await lab.transport.create(LEADER_WORKER_SET, "default", lws())
        await lab.until(lambda: is_available(lab, 2))
        before = {name: pod["metadata"]["uid"] for name, pod in listed(lab, POD).items()}
        await lab.transport.delete(POD, "default", "serve-0-2")
        await lab.until(
            lambda: (
                is_available(lab, 2)
                and "serve-0" in running(lab)
                and len(running(lab)) == 6
                and listed(lab, POD)["serve-0"]["metadata"]["uid"] != before["serve-0"]
            )
        )
        after = {name: pod["metadata"]["uid"] for name, pod in listed(lab, POD).items()}
        replaced = {name for name, uid in after.items() if before[name] != uid}
        assert replaced == {"serve-0", "serve-0-1", "serve-0-2"}

    in_lab(scenario, run)
