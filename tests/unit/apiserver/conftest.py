"""An API service over an empty store in memory, with a clock that stands still unless it is moved."""

import random

import pytest

from posse.apiserver.service import ApiService
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import NAMESPACE
from posse.store.store import Store

NOON = 1_767_268_800.0


class Clock:
    """Reads 2026-01-01T12:00:00Z until it is told otherwise."""

    def __init__(self):
        self.now = NOON

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def service(clock):
    service = ApiService(Store(history_limit=100), clock, random.Random(7))
    for name in ("default", "kube-system", "kube-public", "kube-node-lease"):
        service.create(NAMESPACE, "", {"metadata": {"name": name}})
    return service


@pytest.fixture
def pod():
    """Make pod bodies; keyword arguments go into the spec."""

    def make(name="p", metadata=None, **spec):
        containers = [{"name": "main", "image": "busybox"}]
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, **(metadata or {})},
            "spec": {"containers": containers, **spec},
        }

    return make


@pytest.fixture
def pod_group():
    def make(name="g", min_count=2, version="v1beta1"):
        return {
            "apiVersion": f"scheduling.k8s.io/{version}",
            "kind": "PodGroup",
            "metadata": {"name": name},
            "spec": {"schedulingPolicy": {"gang": {"minCount": min_count}}},
        }

    return make


@pytest.fixture
def refused():
    """Call something that must be refused and return the error."""

    def call(function, *args, **kwargs):
        with pytest.raises(ApiError) as caught:
            function(*args, **kwargs)
        return caught.value

    return call
