import asyncio
import errno
import json
import socket
import ssl
import urllib.request
from base64 import b64decode

import pytest
import yaml

from posse.apiserver.http.server import PortInUse
from posse.kinds.registry import NODE, POD
from posse.kubelet.nodes import parse_topology
from posse.runtime.embedded.cluster import EmbeddedCluster
from posse.runtime.process.background import BackgroundFailed
from posse.runtime.process.options import ClusterOptions
from posse.store.errors import DataDirLocked


def options(directory, **changes):
    return ClusterOptions(**{"data_dir": directory / "data", "port": 0, "node_count": 2} | changes)


def during(chosen, scenario):
    async def main():
        cluster = EmbeddedCluster(chosen)
        await cluster.start()
        try:
            return await scenario(cluster)
        finally:
            await cluster.stop()

    return asyncio.run(main())


def fetch(kubeconfig, path):
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = b64decode(cluster["certificate-authority-data"]).decode()
    request = urllib.request.Request(
        cluster["server"] + path, headers={"Authorization": f"Bearer {user['token']}"}
    )
    with urllib.request.urlopen(request, context=ssl.create_default_context(cadata=authority)) as answer:
        return json.load(answer)


def node_names(cluster):
    return [usage.name for usage in cluster.node_usage()]


def test_the_kubeconfig_it_writes_opens_the_server(tmp_path):
    extra = tmp_path / "elsewhere" / "config"

    async def scenario(cluster):
        for path in (tmp_path / "data" / "kubeconfig", extra):
            nodes = await asyncio.to_thread(fetch, path, "/api/v1/nodes")
            assert len(nodes["items"]) == 2

    during(options(tmp_path, extra_kubeconfig=extra), scenario)


def test_pods_put_into_it_run(tmp_path):
    spec = {"containers": [{"name": "main", "image": "pause"}]}

    async def scenario(cluster):
        await cluster.add([(POD, "default", {"metadata": {"name": "p"}, "spec": spec})])
        for _ in range(1000):
            if cluster._service.get(POD, "default", "p")["status"]["phase"] == "Running":
                break
            await asyncio.sleep(0.01)
        assert sum(usage.pods for usage in cluster.node_usage()) == 1
        assert (await cluster.scheduling()).pods_on_nodes == 1

    during(options(tmp_path), scenario)


def test_everything_is_there_again_after_a_restart(tmp_path):
    async def add(cluster):
        await cluster.add([(NODE, "", {"metadata": {"name": "mine"}})])
        return (tmp_path / "data" / "token").read_text()

    async def look(cluster):
        return node_names(cluster), (tmp_path / "data" / "token").read_text()

    token = during(options(tmp_path), add)
    assert during(options(tmp_path), look) == (["mine", "node-0001", "node-0002"], token)


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [(None, None, 8), (0, None, 0), (3, None, 3), (3, 5, 5), (3, 1, 3), (0, 2, 2)],
)
def test_the_number_of_nodes_over_a_restart(tmp_path, first, second, count):
    async def look(cluster):
        return len(node_names(cluster))

    during(options(tmp_path, node_count=first), look)
    assert during(options(tmp_path, node_count=second), look) == count


def test_nodes_lie_in_the_topology_asked_for(tmp_path):
    async def look(cluster):
        return [node["metadata"]["labels"] for node in cluster._service.list(NODE, None).items]

    labels = during(options(tmp_path, topology=parse_topology("block=2,rack=2")), look)
    assert [item["topology.posse.dev/rack"] for item in labels] == ["block-1-rack-1", "block-2-rack-1"]


def test_a_data_directory_in_use_is_refused_and_stays_usable(tmp_path):
    async def scenario(cluster):
        with pytest.raises(DataDirLocked):
            await EmbeddedCluster(options(tmp_path)).start()
        assert len(node_names(cluster)) == 2

    during(options(tmp_path), scenario)


def test_a_port_in_use_is_refused_and_nothing_is_left_behind(tmp_path):
    async def nothing(cluster):
        return None

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(PortInUse):
            during(options(tmp_path, port=taken.getsockname()[1]), nothing)
    assert not (tmp_path / "data").exists()
    during(options(tmp_path), nothing)


def test_a_directory_that_cannot_be_written_is_an_error_that_names_it(tmp_path):
    (tmp_path / "data").write_text("a file")

    async def nothing(cluster):
        return None

    with pytest.raises(Exception, match="data") as refusal:
        during(options(tmp_path), nothing)
    assert getattr(refusal.value, "errno", errno.EEXIST) == errno.EEXIST


def test_a_part_that_breaks_is_reported(tmp_path, monkeypatch):
    async def broken(self):
        raise RuntimeError("out of order")

    monkeypatch.setattr("posse.runtime.control.reconciling.ReconcilerRunner.run", broken)

    async def scenario(cluster):
        return await asyncio.wait_for(cluster.wait_failed(), 5)

    failure = during(options(tmp_path), scenario)
    assert isinstance(failure, BackgroundFailed)
    assert str(failure) == "the controllers stopped working (RuntimeError: out of order)"
