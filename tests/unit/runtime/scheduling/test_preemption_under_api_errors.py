"""A gang has room made while one write after the other fails: it starts all the same, and no pod is evicted twice or without need."""

import time

import pytest

from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.engine.queue.backlog import Backoff
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import NODE, POD, POD_GROUP, PRIORITY_CLASS
from posse.runtime.scheduling.scheduler import SchedulerLoop

QUICK = Backoff(0.05, 0.1)


async def run(lab):
    await SchedulerLoop(lab.transport, Engine(EngineOptions(backoff=QUICK)), time.time).run()


async def add_node(lab, name):
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    await lab.transport.create(NODE, "", {"metadata": {"name": name}, "status": status})


async def add_gang(lab, name, minimum, **spec):
    policy = {"schedulingPolicy": {"gang": {"minCount": minimum}}}
    await lab.transport.create(POD_GROUP, "default", {"metadata": {"name": name}, "spec": {**policy, **spec}})
    for number in range(minimum):
        container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "4"}}}
        naming = {"schedulingGroup": {"podGroupName": name}, "terminationGracePeriodSeconds": 0}
        priority = {key: value for key, value in spec.items() if key == "priorityClassName"}
        whole = {"containers": [container], **naming, **priority}
        body = {"metadata": {"name": f"{name}-{number}"}, "spec": whole}
        await lab.transport.create(POD, "default", body)


def bound(lab, name, count):
    pods = [lab.find(POD, "default", f"{name}-{number}") for number in range(count)]
    return all(pod and pod["spec"].get("nodeName") for pod in pods)


def is_marked(lab, name):
    conditions = lab.find(POD_GROUP, "default", name)["status"]["conditions"]
    return any(one["type"] == "DisruptionTarget" and one["status"] == "True" for one in conditions)


class Failing:
    """Fails the first write of its sort that it is asked for, and notes which pods are deleted."""

    def __init__(self, transport, monkeypatch, step):
        self.deleted, self._left = [], 1
        self._step = step
        for name in ("patch", "delete", "bind_all"):
            monkeypatch.setattr(transport, name, self._wrapped(name, getattr(transport, name)))

    def _wrapped(self, name, write):
        async def wrapped(*words, **options):
            if self._left and self._is_meant(name, words):
                self._left -= 1
                raise ApiError(503, "Unavailable", "no luck")
            answer = await write(*words, **options)
            if name == "delete":
                self.deleted.append(words[2])
            return answer

        return wrapped

    def _is_meant(self, name, words):
        if name != "patch" or self._step in ("delete", "bind_all"):
            return name == self._step
        kind, _, object_name, patch = words[:4]
        condition = patch.body["status"]["conditions"][0]["type"]
        return f"{kind.name} {object_name.partition('-')[0]} {condition}" == self._step

    @property
    def has_failed(self):
        return not self._left


@pytest.mark.parametrize(
    "step",
    [
        "Pod low DisruptionTarget",
        "delete",
        "PodGroup low DisruptionTarget",
        "PodGroup high PodGroupInitiallyScheduled",
        "Pod high PodScheduled",
    ],
)
def test_the_gang_starts_and_nobody_is_evicted_twice_or_in_vain(in_lab, monkeypatch, step):
    async def scenario(lab):
        await lab.transport.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 100})
        for name in ("n1", "n2", "n3"):
            await add_node(lab, name)
        await add_gang(lab, "low", 2, disruptionMode={"all": {}})
        await add_gang(lab, "mid", 1)
        await lab.until(lambda: bound(lab, "low", 2) and bound(lab, "mid", 1))
        failing = Failing(lab.transport, monkeypatch, step)
        await add_gang(lab, "high", 2, priorityClassName="high")
        await lab.until(lambda: bound(lab, "high", 2))
        assert failing.has_failed
        assert sorted(failing.deleted) == ["low-0", "low-1"]
        await lab.until(lambda: is_marked(lab, "low"))

    in_lab(scenario, run)
