"""Scheduler and volume controller together: a pod whose claim waits for it ends up on the node of a volume."""

import asyncio
import time

from posse.controllers.volume_binding import VolumeBinder
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.kinds.registry import (
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    STORAGE_CLASS,
)
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.scheduling.scheduler import SchedulerLoop

READY = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}


async def run(lab):
    scheduler = SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(scheduler.run())
        tasks.create_task(ReconcilerRunner(lab.transport, [VolumeBinder()], time.time).run())


async def furnish(lab, provisioner="kubernetes.io/no-provisioner"):
    for name in ("n1", "n2"):
        labels = {"kubernetes.io/hostname": name}
        await lab.transport.create(NODE, "", {"metadata": {"name": name, "labels": labels}, "status": READY})
    late = {
        "metadata": {"name": "late"},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    await lab.transport.create(STORAGE_CLASS, "", late)


def volume(name, node):
    required = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    return {
        "metadata": {"name": name},
        "spec": {
            "storageClassName": "late",
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [required]}},
        },
    }


def claim(name):
    return {
        "metadata": {"name": name},
        "spec": {
            "storageClassName": "late",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def pod(name, of):
    return {
        "metadata": {"name": name},
        "spec": {
            "containers": [{"name": "main", "image": "pause"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": of}}],
        },
    }


def node_of(lab, name):
    return lab.find(POD, "default", name)["spec"].get("nodeName")


def condition_of(lab, name):
    conditions = lab.find(POD, "default", name).get("status", {}).get("conditions", [])
    return next((c["message"] for c in conditions if c["type"] == "PodScheduled"), "")


def test_volumes_claims_and_pods_are_bound_to_one_another(in_lab):
    async def scenario(lab):
        await furnish(lab)
        await lab.transport.create(PERSISTENT_VOLUME, "", volume("v1", "n2"))
        for name in ("a", "b"):
            await lab.transport.create(PERSISTENT_VOLUME_CLAIM, "default", claim(name))
        await lab.transport.create(POD, "default", pod("p1", "a"))
        await lab.until(lambda: node_of(lab, "p1") == "n2")
        await lab.until(lambda: lab.find(PERSISTENT_VOLUME, "", "v1")["status"]["phase"] == "Bound")
        bound = lab.find(PERSISTENT_VOLUME_CLAIM, "default", "a")
        assert (bound["spec"]["volumeName"], bound["status"]["phase"]) == ("v1", "Bound")
        await lab.transport.create(POD, "default", pod("p2", "b"))
        await lab.until(lambda: "didn't find available persistent volumes" in condition_of(lab, "p2"))
        await lab.transport.create(PERSISTENT_VOLUME, "", volume("v2", "n1"))
        await lab.until(lambda: node_of(lab, "p2") == "n1")

    in_lab(scenario, run)


def test_pods_that_share_a_claim_come_together(in_lab):
    async def scenario(lab):
        await furnish(lab)
        for name in ("v1", "v2"):
            await lab.transport.create(PERSISTENT_VOLUME, "", volume(name, "n" + name[1]))
        await lab.transport.create(PERSISTENT_VOLUME_CLAIM, "default", claim("a"))
        await asyncio.gather(*(lab.transport.create(POD, "default", pod(f"p{i}", "a")) for i in range(4)))
        nodes = await lab.until(
            lambda: all(node_of(lab, f"p{i}") for i in range(4)) and {node_of(lab, f"p{i}") for i in range(4)}
        )
        assert len(nodes) == 1

    in_lab(scenario, run)


def test_a_claim_for_a_provisioner_names_the_node(in_lab):
    async def scenario(lab):
        await furnish(lab, "csi.example.com")
        await lab.transport.create(PERSISTENT_VOLUME_CLAIM, "default", claim("a"))
        await lab.transport.create(POD, "default", pod("p", "a"))
        annotations = await lab.until(
            lambda: lab.find(PERSISTENT_VOLUME_CLAIM, "default", "a")["metadata"].get("annotations")
        )
        assert annotations["volume.kubernetes.io/selected-node"] in ("n1", "n2")
        assert node_of(lab, "p") is None

    in_lab(scenario, run)
