import pytest

from posse.kinds.registry import NAMESPACE, NODE
from tests.support.live_server import running_server

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "10"}


@pytest.fixture
def server(tmp_path):
    with running_server(tmp_path / "server") as running:
        running.call(running.service.create, NAMESPACE, "", {"metadata": {"name": "kube-system"}})
        for number in range(2):
            node = {"metadata": {"name": f"n{number}"}, "status": {"allocatable": ROOM, "capacity": ROOM}}
            running.call(running.service.create, NODE, "", node)
        yield running
