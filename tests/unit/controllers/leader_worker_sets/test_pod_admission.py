"""Pods that claim to belong to a LeaderWorkerSet but cannot be placed within it are refused; all others are left alone."""

import copy

import pytest

from posse.controllers.leader_worker_sets.pod_admission import PodSurroundings, complete_pod
from posse.kinds.machinery.errors import ApiError

ALONE = PodSurroundings("0123456789", lambda _name: None)
LWS = "leaderworkerset.sigs.k8s.io/"


def pod(name="serve-0", labels=None, annotations=None):
    return {
        "metadata": {"name": name, "namespace": "ns", "labels": labels, "annotations": annotations},
        "spec": {"containers": [{"name": "c"}]},
    }


@pytest.mark.parametrize("labels", [None, {}, {"app": "x"}])
def test_pods_of_nobody_are_left_alone(labels):
    obj = pod(labels=labels)
    before = copy.deepcopy(obj)
    complete_pod(obj, ALONE)
    assert obj == before


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (pod(labels={f"{LWS}name": "serve"}), f"annotation {LWS}size is missing"),
        (
            pod("serve-x", {f"{LWS}name": "serve"}, {f"{LWS}size": "2"}),
            "its name does not end with a number",
        ),
        (pod("serve-0-1", {f"{LWS}name": "serve"}, {f"{LWS}size": "2"}), "its leader is not known"),
    ],
)
def test_pods_without_a_place_are_refused(obj, text):
    with pytest.raises(ApiError, match="is forbidden") as caught:
        complete_pod(obj, ALONE)
    assert text in str(caught.value)


def test_affinity_of_the_author_for_the_same_topology_is_respected():
    labels = {f"{LWS}name": "serve", f"{LWS}worker-index": "0"}
    obj = pod(labels=labels, annotations={f"{LWS}size": "2", f"{LWS}exclusive-topology": "rack"})
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    term = {"topologyKey": "rack", "labelSelector": {}}
    affinity = {"podAffinity": {required: [term]}, "podAntiAffinity": {required: [term]}}
    obj["spec"]["affinity"] = copy.deepcopy(affinity)
    complete_pod(obj, ALONE)
    assert obj["spec"]["affinity"] == affinity


@pytest.mark.parametrize(("left_behind", "suffix"), [("serve-0-hash", "01234567"), ("serve-0-old", "hash")])
def test_a_leader_never_joins_workers_that_the_one_before_it_has_left(left_behind, suffix):
    labels = {
        f"{LWS}name": "serve",
        f"{LWS}worker-index": "0",
        f"{LWS}template-revision-hash": "hash",
    }
    annotations = {f"{LWS}size": "2", "scheduling.posse.dev/provider": "coscheduling"}
    label = "scheduling.x-k8s.io/pod-group"
    left = {"serve-0-1": pod("serve-0-1", labels={label: left_behind})}
    obj = pod(labels=labels, annotations=annotations)
    complete_pod(obj, PodSurroundings("0123456789", left.get))
    assert obj["metadata"]["labels"][label] == f"serve-0-{suffix}"
