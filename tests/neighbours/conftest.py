"""`posse up --control-plane kubernetes` for each file of tests, with the neighbours that the file names."""

import pytest

from posse.control_plane.assets import find_kubectl
from tests.cluster.conftest import pytest_runtest_call, pytest_runtest_setup
from tests.cluster.up_command import UpCommand
from tests.support.stock_kubectl import Kubectl
from tools.neighbours.neighbour import Neighbour

__all__ = ["pytest_runtest_call", "pytest_runtest_setup"]


@pytest.fixture(scope="module")
def up(request, tmp_path_factory):
    words = getattr(request.module, "UP", ())
    up = UpCommand(tmp_path_factory.mktemp("up") / "data", *words)
    yield up
    assert up.stop() == 0


@pytest.fixture(scope="module", autouse=True)
def neighbours(request, up, tmp_path_factory):
    """The controllers of the projects that the file lists."""
    started = []
    for project in getattr(request.module, "PROJECTS", ()):
        folder = tmp_path_factory.mktemp(project.module.folder.name)
        neighbour = Neighbour(project, up.kubeconfig, folder)
        started.append(neighbour)
        neighbour.install()
    yield started
    for neighbour in started:
        neighbour.stop()


@pytest.fixture
def kubectl(up, tmp_path):
    return Kubectl(str(find_kubectl()), up.kubeconfig, tmp_path)


@pytest.fixture(scope="module")
def kubectl_once(up, tmp_path_factory):
    """For what is set up once for all tests of a file."""
    return Kubectl(str(find_kubectl()), up.kubeconfig, tmp_path_factory.mktemp("home"))
