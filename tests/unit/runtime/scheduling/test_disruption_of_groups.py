"""A group that is evicted as a whole carries the mark of it on its object, until it runs again."""

import time

from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.kinds.registry import NODE, POD, POD_GROUP, PRIORITY_CLASS
from posse.runtime.scheduling.scheduler import SchedulerLoop


async def run(lab):
    await SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time).run()


async def add_node(lab, name):
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    await lab.transport.create(NODE, "", {"metadata": {"name": name}, "status": status})


async def add_pod(lab, name, group, **spec):
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "4"}}}
    naming = {"schedulingGroup": {"podGroupName": group}, "terminationGracePeriodSeconds": 0}
    body = {"metadata": {"name": name}, "spec": {"containers": [container], **naming, **spec}}
    await lab.transport.create(POD, "default", body)


async def add_gang(lab, name, minimum, **spec):
    policy = {"schedulingPolicy": {"gang": {"minCount": minimum}}}
    await lab.transport.create(POD_GROUP, "default", {"metadata": {"name": name}, "spec": {**policy, **spec}})


def mark(lab):
    conditions = lab.find(POD_GROUP, "default", "low").get("status", {}).get("conditions", [])
    return next((item for item in conditions if item["type"] == "DisruptionTarget"), None)


def is_bound(lab, name):
    return bool(lab.find(POD, "default", name)["spec"].get("nodeName"))


def test_the_mark_comes_with_the_eviction_and_goes_when_the_group_runs_again(in_lab):
    async def scenario(lab):
        await lab.transport.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 100})
        await add_node(lab, "n1")
        await add_gang(lab, "low", 1, disruptionMode={"all": {}})
        await add_pod(lab, "low-1", "low")
        await lab.until(lambda: is_bound(lab, "low-1"))
        await add_gang(lab, "high", 1, priorityClassName="high")
        await add_pod(lab, "high-1", "high", priorityClassName="high")
        await lab.until(lambda: is_bound(lab, "high-1"))
        await lab.until(lambda: mark(lab) is not None)
        assert (mark(lab)["status"], mark(lab)["reason"]) == ("True", "PreemptionByScheduler")
        assert mark(lab)["message"].endswith(
            "preempting to accommodate a higher priority podgroup default/high"
        )
        await add_node(lab, "n2")
        await add_pod(lab, "low-2", "low")
        await lab.until(lambda: is_bound(lab, "low-2"))
        await lab.until(lambda: mark(lab) is None)

    in_lab(scenario, run)
