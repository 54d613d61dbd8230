"""Real control planes, started once for each file of tests, and clients of their administrator."""

import os

import pytest

from posse.control_plane.assets import NATIVE, OWN_PROGRAMS, WITHOUT_GROUPS, MissingProgramError, find_kubectl
from posse.control_plane.plane import running_plane
from posse.control_plane.users import service_account
from tests.cluster.cluster_api import ClusterApi
from tests.support.stock_kubectl import Kubectl
from tools.installed_posse import CONTROLLERS_ACCOUNT, POSSE_ACCOUNT, start_posse

# Posse may be installed where it is by default, or in a namespace of its own.
USERS = [POSSE_ACCOUNT, CONTROLLERS_ACCOUNT, service_account("posse-system", "posse")]


def telling_what_is_missing():
    """Programs of one's own limit what can be tested. Without them, a missing program is an error."""
    try:
        return (yield)
    except MissingProgramError as missing:
        (pytest.skip if os.environ.get(OWN_PROGRAMS) else pytest.fail)(str(missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    return (yield from telling_what_is_missing())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    return (yield from telling_what_is_missing())


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    """Kubernetes 1.37 with all of the workload API, and no scheduler."""
    with running_plane(tmp_path_factory.mktemp("plane"), NATIVE, USERS) as plane:
        yield plane


@pytest.fixture(scope="module")
def plane_without_groups(tmp_path_factory):
    """Kubernetes 1.33, as it is without any special setting."""
    with running_plane(tmp_path_factory.mktemp("older"), WITHOUT_GROUPS, USERS) as plane:
        yield plane


@pytest.fixture
def api(plane, tmp_path):
    with ClusterApi(plane.kubeconfig(), tmp_path / "discovered") as api:
        yield api


@pytest.fixture
def kubectl(plane, tmp_path):
    return Kubectl(str(find_kubectl()), plane.kubeconfig(), tmp_path)


@pytest.fixture(scope="module")
def posse(plane):
    """Posse as `posse install` would set it up, in charge of the pods that name it."""
    running = start_posse(plane)
    yield running
    running.stop()
