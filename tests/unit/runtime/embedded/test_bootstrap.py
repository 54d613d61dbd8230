import time

import pytest

from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import NAMESPACE, NODE, POD, PRIORITY_CLASS
from posse.kubelet.nodes import parse_topology
from posse.runtime.embedded import bootstrap
from posse.runtime.embedded.bootstrap import bootstrap_objects, create_missing, ensure_nodes


def names(lab, kind):
    return [item["metadata"]["name"] for item in lab.service.list(kind, None).items]


def test_every_cluster_has_its_namespaces_and_system_classes(in_lab):
    async def scenario(lab):
        assert names(lab, NAMESPACE) == ["default", "kube-node-lease", "kube-public", "kube-system"]
        assert names(lab, PRIORITY_CLASS) == ["system-cluster-critical", "system-node-critical"]
        versions = lab.store.version
        await create_missing(lab.transport, bootstrap_objects())
        assert lab.store.version == versions

    in_lab(scenario)


def test_nodes_are_added_but_never_changed_or_removed(in_lab):
    async def scenario(lab):
        await ensure_nodes(lab.transport, 2, (), time.time())
        before = lab.find(NODE, "", "node-0001")
        await ensure_nodes(lab.transport, 4, parse_topology("rack=2"), time.time())
        await ensure_nodes(lab.transport, 0, (), time.time())
        assert names(lab, NODE) == ["node-0001", "node-0002", "node-0003", "node-0004"]
        assert lab.find(NODE, "", "node-0001") == before
        labels = lab.find(NODE, "", "node-0004")["metadata"]["labels"]
        assert labels["topology.posse.dev/rack"] == "rack-2"

    in_lab(scenario)


def test_a_deleted_node_does_not_return_while_there_are_enough(in_lab):
    async def scenario(lab):
        await ensure_nodes(lab.transport, 5, (), time.time())
        await lab.transport.delete(NODE, "", "node-0002")
        await ensure_nodes(lab.transport, 4, (), time.time())
        assert names(lab, NODE) == ["node-0001", "node-0003", "node-0004", "node-0005"]
        await ensure_nodes(lab.transport, 6, (), time.time())
        assert names(lab, NODE) == [f"node-{number:04d}" for number in range(1, 7)]

    in_lab(scenario)


def test_new_nodes_are_ready_at_once(in_lab):
    async def scenario(lab):
        await ensure_nodes(lab.transport, 1, (), time.time())
        status = lab.find(NODE, "", "node-0001")["status"]
        assert status["allocatable"]["cpu"] == "32"
        assert status["conditions"][0]["status"] == "True"

    in_lab(scenario)


def test_many_are_created_in_several_rounds(in_lab, monkeypatch):
    monkeypatch.setattr(bootstrap, "MAX_BATCH", 7)

    async def scenario(lab):
        await ensure_nodes(lab.transport, 20, (), time.time())
        assert len(names(lab, NODE)) == 20

    in_lab(scenario)


def test_an_object_that_is_refused_is_an_error(in_lab):
    async def scenario(lab):
        with pytest.raises(ApiError, match=r"spec\.containers"):
            await create_missing(lab.transport, [(POD, "default", {"metadata": {"name": "p"}, "spec": {}})])

    in_lab(scenario)
