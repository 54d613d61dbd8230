"""Objects beyond limits that an older version has stored: the cluster starts, works, and they can be deleted."""

import asyncio

import pytest

from posse.apiserver.requests import DeleteOptions
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    EVENT,
    JOB,
    JOB_SET,
    LEADER_WORKER_SET,
    NODE,
    POD,
    STATEFUL_SET,
)
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.options import ClusterOptions
from tests.support import poisons

HUGE = 2_000_000_000


def stateful_set():
    selector = {"matchLabels": {"app": "a"}}
    spec = {"serviceName": "s", "replicas": HUGE, "selector": selector, "podManagementPolicy": "Parallel"}
    template = poisons.template(restartPolicy="Always")
    return {"metadata": {"name": "poison"}, "spec": spec | {"template": template}}


def job(**spec):
    return {"metadata": {"name": "poison"}, "spec": {"template": poisons.template(), **spec}}


def jobset():
    replicated = {
        "name": "w",
        "replicas": 1,
        "template": {"spec": job(parallelism=HUGE, completionMode="NonIndexed")["spec"]},
    }
    return {"metadata": {"name": "poison"}, "spec": {"replicatedJobs": [replicated]}}


def leader_worker_set():
    template = {"size": HUGE, "workerTemplate": poisons.template(restartPolicy="Always")}
    return {"metadata": {"name": "poison"}, "spec": {"replicas": 1, "leaderWorkerTemplate": template}}


STORED = {
    "spread constraints": (POD, lambda: poisons.PODS["spread constraints"](poisons.MANY)),
    "host ports": (POD, lambda: poisons.PODS["host ports"](50_000)),
    "resource names": (POD, lambda: poisons.PODS["resource names"](poisons.MANY)),
    "a node of many resources": (NODE, lambda: poisons.node(30_000)),
    "a StatefulSet": (STATEFUL_SET, stateful_set),
    "a Job": (JOB, lambda: job(parallelism=HUGE)),
    "a JobSet": (JOB_SET, jobset),
    "a LeaderWorkerSet": (LEADER_WORKER_SET, leader_worker_set),
}


def during(options, scenario):
    async def main():
        cluster = EmbeddedCluster(options)
        await cluster.start()
        try:
            await scenario(cluster)
        finally:
            await cluster.stop()

    asyncio.run(main())


async def until(condition):
    for _ in range(2000):
        if found := condition():
            return found
        await asyncio.sleep(0.01)
    raise TimeoutError("what the test waits for did not happen")


def reasons(cluster):
    return [event["reason"] for event in cluster._service.list(EVENT, "default").items]


@pytest.mark.parametrize("name", STORED)
def test_the_cluster_starts_with_what_is_stored_and_goes_on(tmp_path, monkeypatch, name):
    kind, make = STORED[name]
    options = ClusterOptions(data_dir=tmp_path / "data", port=0, node_count=2)
    namespace = "default" if kind.namespaced else ""

    async def store(cluster):
        await cluster._background.stop()
        await cluster.add([(kind, namespace, make())])

    async def go_on(cluster):
        assert cluster.url
        await cluster.add([(POD, "default", poisons.pod("small"))])
        await until(lambda: cluster._service.get(POD, "default", "small")["spec"].get("nodeName"))
        if kind not in {POD, NODE}:
            await until(lambda: "LimitExceeded" in reasons(cluster))
            assert [pod["metadata"]["name"] for pod in cluster._service.list(POD, None).items] == ["small"]
        cluster._service.delete(kind, namespace, "poison", DeleteOptions(grace_seconds=0))

    with monkeypatch.context() as without_limits:
        without_limits.setattr("posse.apiserver.incoming.limit_errors", lambda *_: [])
        without_limits.setattr("posse.apiserver.incoming.MAX_VALUES", 10_000_000)
        during(options, store)
    during(options, go_on)


def test_a_long_chain_of_groups_does_not_hold_up_others(tmp_path):
    def composite(number):
        parent = {"parentCompositePodGroupName": f"c{number - 1}"} if number else {}
        reference = {"workloadName": "w", "templateName": "t"}
        policy = {"gang": {"minGroupCount": 1}}
        return {
            "metadata": {"name": f"c{number}"},
            "spec": {"workloadRef": reference, "schedulingPolicy": policy, **parent},
        }

    async def scenario(cluster):
        await cluster.add([(COMPOSITE_POD_GROUP, "default", composite(number)) for number in range(300)])
        await cluster.add([(POD, "default", poisons.pod("small"))])
        await until(lambda: cluster._service.get(POD, "default", "small")["spec"].get("nodeName"))

    during(ClusterOptions(data_dir=tmp_path / "data", port=0, node_count=2), scenario)
