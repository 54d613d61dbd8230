"""JobSets and LeaderWorkerSets of the kinds that their projects publish as samples: each reaches its end.

Their manifests are applied as kubectl does it, with strict validation of fields, on a cluster with volumes and racks.
"""

import asyncio
import copy
import random
import time
from pathlib import Path

import pytest
import yaml

from posse.apiserver.committer import Committer
from posse.apiserver.local import LocalTransport
from posse.apiserver.requests import WriteOptions
from posse.apiserver.service import ApiService
from posse.controllers.pod_admission import complete_new_pod
from posse.engine.engine import Engine
from posse.engine.options import EngineOptions
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import (
    JOB_SET,
    LEADER_WORKER_SET,
    NAMESPACE,
    NODE,
    PERSISTENT_VOLUME,
    POD,
    STORAGE_CLASS,
    VOLCANO_POD_GROUP,
    by_kind,
)
from posse.model.feature_gates import ALL_GATES
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.runtime.embedded.bootstrap import bootstrap_objects, create_missing, ensure_nodes
from posse.runtime.embedded.cluster import embedded_reconcilers
from posse.runtime.embedded.simulated_nodes import SimulatedNodes
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.store.store import Store
from posse.transport.patches import MERGE_PATCH, Patch

SAMPLES = Path(__file__).parent / "samples"
NODE_COUNT = 8
PATIENCE_SECONDS = 60.0
RACK = "topology.kubernetes.io/rack"
DISKS = 12
SETS = {JOB_SET.name, LEADER_WORKER_SET.name}


def documents(name):
    """Parts that several samples share are one object in YAML; each sample gets its own copy."""
    return [copy.deepcopy(item) for item in yaml.safe_load((SAMPLES / name).read_text())["items"]]


def place(document):
    """An exclusive set shares its domain with no other set of the namespace, so it has one to itself."""
    return document["metadata"].get("namespace", "default")


class Lab:
    """A whole cluster in this process; sets are created as a client would."""

    def __init__(self):
        self.store = Store()
        self.service = ApiService(self.store, time.time, random.Random(5), admission={POD: complete_new_pod})
        self.committer = Committer(self.store)
        self.transport = LocalTransport(self.service, self.committer)

    async def prepare(self):
        await create_missing(self.transport, bootstrap_objects())
        await ensure_nodes(self.transport, NODE_COUNT, (), time.time())
        for index, node in enumerate(self.service.list(NODE, None).items):
            labels = Patch(MERGE_PATCH, {"metadata": {"labels": {RACK: f"r{index % 4}"}}})
            self.service.patch(NODE, "", node["metadata"]["name"], labels)
        # Sets that share their racks with no others of a namespace have one each: the order of starts does not matter.
        for name in ("apart", "alone"):
            self.service.create(NAMESPACE, "", {"metadata": {"name": name}})
        waiting = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
        self.service.create(STORAGE_CLASS, "", {"metadata": {"name": "disks"}, **waiting})
        for index in range(DISKS):
            spec = {
                "storageClassName": "disks",
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/disk"},
            }
            self.service.create(PERSISTENT_VOLUME, "", {"metadata": {"name": f"disk-{index}"}, "spec": spec})

    def apply(self, document):
        group, _, _ = document["apiVersion"].rpartition("/")
        kind = by_kind(group, document["kind"])
        self.service.create(kind, place(document), document, WriteOptions(field_validation="Strict"))

    async def run(self):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(SchedulerLoop(self.transport, Engine(EngineOptions()), time.time).run())
            tasks.create_task(SimulatedNodes(self.transport, time.time).run())
            reconcilers = embedded_reconcilers(ALL_GATES)
            tasks.create_task(ReconcilerRunner(self.transport, reconcilers, time.time).run())


def reached(name, is_reached):
    """Apply the samples of a file, and return those that do not reach their end."""

    async def main():
        lab = Lab()
        await lab.prepare()
        running = asyncio.create_task(lab.run())
        waiting = {}
        for document in documents(name):
            lab.apply(document)
            if document["kind"] in SETS:
                waiting[document["metadata"]["name"]] = document
        deadline = time.monotonic() + PATIENCE_SECONDS
        while waiting and time.monotonic() < deadline:
            waiting = {key: one for key, one in waiting.items() if not is_reached(lab, one)}
            await asyncio.sleep(0.1)
        running.cancel()
        await asyncio.wait([running])
        await lab.committer.close()
        return sorted(waiting)

    return asyncio.run(main())


def status_of(lab, kind, sample):
    try:
        found = lab.service.get(kind, place(sample), sample["metadata"]["name"])
        return found.get("status") or {}
    except ApiError:
        return None


def holding(status):
    return {item["type"]: item["reason"] for item in status.get("conditions", []) if item["status"] == "True"}


def has_ended(lab, sample):
    expected = sample["metadata"]["annotations"]["ends"]
    status = status_of(lab, JOB_SET, sample)
    if status is None or expected == "Gone":
        return status is None and expected == "Gone"
    if expected == "Restarted":
        return status.get("restarts", 0) >= 2
    conditions = holding(status)
    return expected in conditions or expected == conditions.get("Failed")


def is_available(lab, sample):
    annotations = sample["metadata"].get("annotations") or {}
    if "group" in annotations:
        groups = lab.service.list(VOLCANO_POD_GROUP, "default").items
        return annotations["group"] == VOLCANO_POD_GROUP.group_resource and [
            group["spec"]["minMember"] for group in groups
        ] == [4, 4]
    return "Available" in holding(status_of(lab, LEADER_WORKER_SET, sample) or {})


@pytest.mark.parametrize(
    ("name", "is_reached"),
    [("jobsets.yaml", has_ended), ("leaderworkersets.yaml", is_available)],
    ids=["jobsets", "leaderworkersets"],
)
def test_every_sample_reaches_its_end(name, is_reached):
    assert len(documents(name)) > 10
    assert reached(name, is_reached) == []
