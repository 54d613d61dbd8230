"""LeaderWorkerSets where no webhook completes pods as they are made: their controller does so before they are scheduled."""

import pytest

from posse.controllers.gated_pods import GATE
from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.leader_worker_sets.later_completion import refusals
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.kinds.registry import KINDS, LEADER_WORKER_SET, NODE, POD, POSSE_POD_GROUP, SERVICE
from posse.model.decoding import decode
from posse.model.leader_worker_set import LeaderWorkerSet
from tests.support.controller_world import World
from tests.support.leader_worker_set_world import PROVIDER, holding, lws, names, replaced, uids

PREFIX = "leaderworkerset.sigs.k8s.io/"
SERVED = [kind for kind in KINDS if kind.group != "scheduling.k8s.io"]


@pytest.fixture
def unassisted():
    """Makes worlds in which the API server leaves pods as they are."""

    def controller():
        return LeaderWorkerSetController(SERVED, completes_pods=True)

    return lambda **options: World(StatefulSetController, controller, admission={}, **options)


def variables(pod):
    return {
        item["name"]: item.get("value") or item["valueFrom"] for item in pod["spec"]["containers"][0]["env"]
    }


@pytest.mark.parametrize("provider", ["posse", "volcano", "coscheduling", "none"])
def test_a_set_becomes_available(unassisted, provider):
    here = unassisted()
    here.create(LEADER_WORKER_SET, lws(annotations={PROVIDER: provider}))
    here.settle()
    assert set(here.bound()) == names(2, 3)
    assert holding(here) == {"Available": "AllGroupsReady"}
    assert not any("schedulingGates" in pod["spec"] for pod in here.of(POD).values())


def test_of_two_replicas_one_fits_and_is_whole(unassisted):
    here = unassisted(nodes=1, per_node=5)
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    assert len(here.bound()) == 3
    assert len({name[:7] for name in here.bound()}) == 1


def test_pods_know_their_place_and_their_group(unassisted):
    here = unassisted()
    here.create(LEADER_WORKER_SET, lws(template={"subGroupPolicy": {"subGroupSize": 3}}))
    here.settle()
    leader, worker = here.find(POD, "serve-1"), here.find(POD, "serve-1-2")
    for pod, index in ((leader, "0"), (worker, "2")):
        labels = pod["metadata"]["labels"]
        assert labels[f"{PREFIX}group-index"] == "1"
        assert labels[f"{PREFIX}worker-index"] == index
        assert labels[f"{PREFIX}subgroup-index"] == "0"
        assert labels["scheduling.posse.dev/pod-group"] == f"serve-1-{leader['metadata']['uid'][:8]}"
    assert len(here.of(POSSE_POD_GROUP)) == 2


def test_containers_are_told_what_the_kubelet_knows(unassisted):
    here = unassisted()
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    assert variables(here.find(POD, "serve-1")) == {
        "LWS_POD_NAME": {"fieldRef": {"fieldPath": "metadata.name"}},
        "LWS_LEADER_ADDRESS": "$(LWS_POD_NAME).serve.default",
        "LWS_WORKER_INDEX": "0",
        "LWS_GROUP_SIZE": "3",
    }
    label = "metadata.labels['apps.kubernetes.io/pod-index']"
    assert variables(here.find(POD, "serve-1-2")) == {
        "LWS_LEADER_ADDRESS": "serve-1.serve.default",
        "LWS_WORKER_INDEX": {"fieldRef": {"fieldPath": label}},
        "LWS_GROUP_SIZE": "3",
    }


def test_leaders_are_reached_through_the_shared_service_even_where_workers_are_not(unassisted):
    here = unassisted()
    here.create(LEADER_WORKER_SET, lws(networkConfig={"subdomainPolicy": "UniquePerReplica"}))
    here.settle()
    assert set(here.of(SERVICE)) == {"serve", "serve-0", "serve-1"}
    leader, worker = here.find(POD, "serve-1"), here.find(POD, "serve-1-2")
    assert (leader["spec"]["subdomain"], worker["spec"]["subdomain"]) == ("serve", "serve-1")
    assert variables(worker)["LWS_LEADER_ADDRESS"] == "serve-1.serve.default"


def test_no_leader_is_scheduled_before_it_is_told_apart(unassisted):
    here = unassisted()
    here.create(LEADER_WORKER_SET, lws())
    stateful_sets, leader_worker_sets = here.reconcilers
    leader_worker_sets.act()
    stateful_sets.act()
    here.scheduler.act()
    assert set(here.of(POD)) == {"serve-0", "serve-1"}
    assert {pod["spec"]["schedulingGates"][0]["name"] for pod in here.of(POD).values()} == {GATE}
    assert here.bound() == []


def test_a_lost_pod_brings_the_whole_replica_anew(unassisted):
    here = unassisted()
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    before = uids(here)
    here.delete(POD, "serve-0-1", grace_seconds=0)
    here.settle()
    assert replaced(before, uids(here)) == {"serve-0", "serve-0-1", "serve-0-2"}
    assert set(here.bound()) == names(2, 3)


def test_nodes_are_of_no_interest():
    assert NODE not in LeaderWorkerSetController(SERVED, completes_pods=True).kinds


@pytest.mark.parametrize(
    ("obj", "field"),
    [
        (
            lws(annotations={f"{PREFIX}exclusive-topology": "rack"}),
            f"metadata.annotations[{PREFIX}exclusive-topology]",
        ),
        (
            lws(
                template={
                    "workerTemplate": {
                        "spec": {
                            "containers": [
                                {"name": "c", "resources": {"limits": {"google.com/tpu": "4"}}},
                            ]
                        }
                    }
                }
            ),
            "spec.leaderWorkerTemplate",
        ),
    ],
)
def test_what_takes_a_webhook_is_refused(obj, field):
    (error,) = refusals(decode(LeaderWorkerSet, obj))
    assert error.field == field
    assert "changed as they are made" in error.detail
