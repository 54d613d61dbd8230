"""LeaderWorkerSets in a cluster without threads, and how they stand in it."""

from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.kinds.registry import KINDS, LEADER_WORKER_SET, POD
from tests.support.controller_world import World

PROVIDER = "scheduling.posse.dev/provider"


def world(**options):
    return World(StatefulSetController, lambda: LeaderWorkerSetController(KINDS), **options)


def lws(replicas=2, size=3, annotations=None, image="i:1", template=None, **spec):
    container = {"name": "c", "image": image, "resources": {"requests": {"cpu": "1"}}}
    worker = {"spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}
    leader_worker = {"size": size, "workerTemplate": worker, **(template or {})}
    return {
        "metadata": {"name": "serve", "annotations": annotations or {}},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": leader_worker, **spec},
    }


def status_of(here):
    return here.find(LEADER_WORKER_SET, "serve")["status"]


def holding(here):
    return {
        item["type"]: item["reason"] for item in status_of(here)["conditions"] if item["status"] == "True"
    }


def uids(here, kind=POD):
    return {name: obj["metadata"]["uid"] for name, obj in here.of(kind).items()}


def replaced(before, after):
    return {name for name, uid in after.items() if before.get(name) != uid}


def names(replicas, size):
    leaders = {f"serve-{group}" for group in range(replicas)}
    return leaders | {f"{leader}-{worker}" for leader in leaders for worker in range(1, size)}
