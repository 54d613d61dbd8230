"""LeaderWorkerSets from creation to their end, with every other part of a cluster at work and nothing left to chance."""

import pytest

from posse.controllers.leader_worker_sets.controller import LeaderWorkerSetController
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.kinds.registry import (
    CONTROLLER_REVISION,
    KINDS,
    LEADER_WORKER_SET,
    POD,
    POD_GROUP,
    PRIORITY_CLASS,
    SERVICE,
    STATEFUL_SET,
    WORKLOAD,
)
from tests.support.controller_world import World
from tests.support.leader_worker_set_world import (
    PROVIDER,
    holding,
    lws,
    names,
    replaced,
    status_of,
    uids,
    world,
)

OWNED = (POD, STATEFUL_SET, SERVICE, POD_GROUP, WORKLOAD, CONTROLLER_REVISION)


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_a_set_becomes_available_and_leaves_nothing_behind(propagation):
    here = world()
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    assert set(here.of(POD)) == names(2, 3)
    assert holding(here) == {"Available": "AllGroupsReady"}
    status = status_of(here)
    assert (status["replicas"], status["readyReplicas"], status["updatedReplicas"]) == (2, 2, 2)
    here.delete(LEADER_WORKER_SET, "serve", propagation=propagation)
    here.settle()
    assert [kind.name for kind in (LEADER_WORKER_SET, *OWNED) if here.of(kind)] == []


def test_a_set_that_waits_for_room_leaves_nothing_behind_either():
    here = world(nodes=0)
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    here.delete(LEADER_WORKER_SET, "serve", propagation="Foreground")
    here.settle()
    assert [kind.name for kind in (LEADER_WORKER_SET, *OWNED) if here.of(kind)] == []


def test_without_workers_there_is_only_the_leader():
    here = world()
    here.create(LEADER_WORKER_SET, lws(size=1))
    here.settle()
    assert set(here.of(POD)) == {"serve-0", "serve-1"}
    assert set(here.of(STATEFUL_SET)) == {"serve"}
    assert "Available" in holding(here)


def test_no_replicas_are_available_at_once():
    here = world()
    here.create(LEADER_WORKER_SET, lws(replicas=0))
    here.settle()
    assert here.of(POD) == {}
    assert holding(here) == {"Available": "AllGroupsReady"}


def test_of_two_replicas_one_fits_and_is_whole():
    here = world(nodes=1, per_node=5)
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    groups = {name[:7] for name in here.bound()}
    assert len(here.bound()) == 3
    assert len(groups) == 1
    assert status_of(here)["readyReplicas"] == 1


def test_one_by_one_the_pods_of_two_replicas_block_each_other():
    here = world(nodes=1, per_node=5)
    here.create(LEADER_WORKER_SET, lws(annotations={PROVIDER: "none"}))
    here.settle()
    assert len(here.bound()) == 5


def test_workers_wait_for_a_leader_that_must_be_ready():
    here = world(nodes=1, per_node=0)
    here.create(LEADER_WORKER_SET, lws(replicas=1, startupPolicy="LeaderReady"))
    here.settle()
    assert set(here.of(POD)) == {"serve-0"}
    here.add_node("big", 4)
    here.settle()
    assert set(here.bound()) == names(1, 3)


@pytest.mark.parametrize("provider", ["posse", "volcano", "coscheduling"])
def test_a_leader_does_not_start_where_its_workers_would_never_fit(provider):
    here = world(nodes=1, per_node=2)
    obj = lws(replicas=1, startupPolicy="LeaderReady", annotations={PROVIDER: provider})
    here.create(LEADER_WORKER_SET, obj)
    here.settle()
    assert here.bound() == []
    here.add_node("another", 1)
    here.settle()
    assert set(here.bound()) == names(1, 3)


@pytest.mark.parametrize("provider", ["posse", "volcano", "coscheduling"])
@pytest.mark.parametrize(("per_node", "size", "whole"), [(4, 2, 4), (4, 3, 2), (3, 4, 1)])
def test_leaders_start_only_where_their_workers_fit_beside_those_of_others(provider, per_node, size, whole):
    here = world(nodes=2, per_node=per_node)
    obj = lws(replicas=8, size=size, startupPolicy="LeaderReady", annotations={PROVIDER: provider})
    here.create(LEADER_WORKER_SET, obj)
    here.settle()
    assert len(here.bound()) == whole * size
    assert status_of(here)["readyReplicas"] == whole
    here.add_node("another", size)
    here.settle()
    assert status_of(here)["readyReplicas"] == len(here.bound()) / size >= whole + 1


@pytest.mark.parametrize("provider", ["posse", "volcano", "coscheduling", "none"])
def test_scaling_makes_and_removes_whole_replicas(provider):
    here = world(nodes=3)
    here.create(LEADER_WORKER_SET, lws(annotations={PROVIDER: provider}))
    here.settle()
    before = uids(here)
    here.patch(LEADER_WORKER_SET, "serve", replicas=3)
    here.settle()
    assert set(here.bound()) == names(3, 3)
    here.patch(LEADER_WORKER_SET, "serve", replicas=1)
    here.settle()
    assert set(here.bound()) == names(1, 3)
    assert not replaced(before, uids(here))
    here.patch(LEADER_WORKER_SET, "serve", replicas=2)
    here.settle()
    assert set(here.bound()) == names(2, 3)


@pytest.mark.parametrize("provider", ["posse", "volcano", "coscheduling", "none"])
@pytest.mark.parametrize(
    "rolling", [{}, {"maxSurge": 1}, {"maxUnavailable": 2}, {"maxSurge": 2, "maxUnavailable": 0}]
)
def test_an_update_reaches_every_replica(provider, rolling):
    here = world(nodes=6)
    strategy = {"rollingUpdateConfiguration": rolling}
    here.create(
        LEADER_WORKER_SET, lws(replicas=4, annotations={PROVIDER: provider}, rolloutStrategy=strategy)
    )
    here.settle()
    here.patch(
        LEADER_WORKER_SET, "serve", leaderWorkerTemplate=lws(image="i:2")["spec"]["leaderWorkerTemplate"]
    )
    unavailable = []

    def watch_availability():
        unavailable.append(4 - status_of(here)["readyReplicas"])

    here.settle(check=watch_availability)
    assert {pod["spec"]["containers"][0]["image"] for pod in here.of(POD).values()} == {"i:2"}
    assert set(here.of(POD)) == names(4, 3)
    assert holding(here) == {"Available": "AllGroupsReady"}
    assert max(unavailable) <= max(1, rolling.get("maxUnavailable", 1))
    owners = [obj["metadata"]["ownerReferences"][0] for obj in here.of(CONTROLLER_REVISION).values()]
    assert [owner["kind"] for owner in owners].count("LeaderWorkerSet") == 1


def test_replicas_below_the_partition_stay_as_they_are():
    here = world(nodes=4)
    here.create(LEADER_WORKER_SET, lws(replicas=3))
    here.settle()
    before = uids(here)
    strategy = {"rollingUpdateConfiguration": {"partition": 2}}
    changed = lws(image="i:2")["spec"]["leaderWorkerTemplate"]
    here.patch(LEADER_WORKER_SET, "serve", leaderWorkerTemplate=changed, rolloutStrategy=strategy)
    here.settle()
    assert replaced(before, uids(here)) == {"serve-2", "serve-2-1", "serve-2-2"}
    here.delete(POD, "serve-0")
    here.settle()
    images = {name: pod["spec"]["containers"][0]["image"] for name, pod in here.of(POD).items()}
    assert {name for name, image in images.items() if image == "i:2"} == {"serve-2", "serve-2-1", "serve-2-2"}
    assert holding(here) == {"Available": "AllGroupsReady"}


def test_a_change_of_size_changes_groups_with_their_leaders():
    here = world(nodes=4)
    here.create(LEADER_WORKER_SET, lws(replicas=2, size=2))
    here.settle()
    here.patch(LEADER_WORKER_SET, "serve", leaderWorkerTemplate={"size": 4})
    here.settle()
    assert set(here.bound()) == names(2, 4)
    minimums = {
        group["spec"]["schedulingPolicy"]["gang"]["minCount"] for group in here.of(POD_GROUP).values()
    }
    assert minimums == {4}
    (template,) = here.find(WORKLOAD, "serve")["spec"]["podGroupTemplates"]
    assert template["schedulingPolicy"] == {"gang": {"minCount": 4}}


def test_a_replica_makes_way_as_a_whole_for_what_matters_more():
    here = world(nodes=2, per_node=3)
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    here.service.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 9})
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}, "priorityClassName": "high"}
    here.create(POD_GROUP, {"metadata": {"name": "urgent"}, "spec": policy})
    for number in range(2):
        spec = {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "schedulingGroup": {"podGroupName": "urgent"},
            "priorityClassName": "high",
        }
        here.create(POD, {"metadata": {"name": f"urgent-{number}"}, "spec": spec})
    here.settle()
    bound = here.bound()
    assert {"urgent-0", "urgent-1"} <= set(bound)
    assert len(bound) == 5
    assert len({name[:7] for name in bound if name.startswith("serve")}) == 1
    assert set(here.of(POD)) == names(2, 3) | {"urgent-0", "urgent-1"}


def test_a_pending_leader_that_is_deleted_gets_a_successor_with_a_group_of_its_own():
    here = world(nodes=1, per_node=0)
    here.create(LEADER_WORKER_SET, lws(replicas=1))
    here.settle()
    here.delete(POD, "serve-0")
    here.settle()
    here.add_node("big", 4)
    here.settle()
    assert set(here.bound()) == names(1, 3)
    assert len(here.of(POD_GROUP)) == 1


def test_a_workload_of_somebody_else_is_respected_and_nothing_is_half_made():
    here = world()
    template = {"name": "mine", "schedulingPolicy": {"gang": {"minCount": 2}}}
    here.create(WORKLOAD, {"metadata": {"name": "serve"}, "spec": {"podGroupTemplates": [template]}})
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    assert here.of(STATEFUL_SET) == {}
    (condition,) = [
        item for item in status_of(here)["conditions"] if item["type"] == "WorkloadSchedulingReady"
    ]
    assert (condition["status"], condition["reason"]) == ("False", "WorkloadCreateFailed")
    assert "does not belong to this LeaderWorkerSet" in condition["message"]
    here.delete(WORKLOAD, "serve")
    here.settle()
    assert set(here.bound()) == names(2, 3)
    assert holding(here) == {
        "Available": "AllGroupsReady",
        "WorkloadSchedulingReady": "SchedulingPrerequisitesReady",
    }


def test_a_stateful_set_of_somebody_else_is_respected_and_nothing_is_half_made():
    here = world()
    other = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": other}
    here.create(STATEFUL_SET, {"metadata": {"name": "serve"}, "spec": spec})
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    assert not any(here.of(kind) for kind in (WORKLOAD, SERVICE, POD))
    (condition,) = [item for item in status_of(here)["conditions"] if item["type"] == "Available"]
    assert (condition["status"], condition["reason"]) == ("False", "NameTaken")
    here.delete(STATEFUL_SET, "serve")
    here.settle()
    assert set(here.bound()) == names(2, 3)
    assert holding(here) == {"Available": "AllGroupsReady"}


def test_a_provider_whose_kinds_are_missing_is_told_in_a_condition():
    served = [kind for kind in KINDS if kind.group != "scheduling.volcano.sh"]
    here = World(StatefulSetController, lambda: LeaderWorkerSetController(served))
    here.create(LEADER_WORKER_SET, lws(annotations={PROVIDER: "volcano"}))
    here.settle()
    assert here.of(STATEFUL_SET) == here.of(POD) == {}
    (condition,) = [
        item for item in status_of(here)["conditions"] if item["type"] == "WorkloadSchedulingReady"
    ]
    assert condition["reason"] == "APINotAvailable"
    assert condition["message"] == (
        "provider volcano needs podgroups.scheduling.volcano.sh, which the cluster does not serve"
    )


def test_without_the_kinds_of_kubernetes_those_of_posse_will_do():
    served = [kind for kind in KINDS if kind.group != "scheduling.k8s.io"]
    here = World(StatefulSetController, lambda: LeaderWorkerSetController(served), nodes=1, per_node=5)
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    assert len(here.bound()) == 3
    assert here.of(POD_GROUP) == here.of(WORKLOAD) == {}


@pytest.mark.parametrize("provider", ["posse", "volcano", "none"])
def test_exclusive_replicas_have_a_domain_each(provider):
    here = world(nodes=3, per_node=8)
    topology = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "host", PROVIDER: provider}
    here.create(LEADER_WORKER_SET, lws(replicas=3, annotations=topology))
    here.settle()
    assert set(here.bound()) == names(3, 3)
    hosts = {}
    for name, pod in here.of(POD).items():
        hosts.setdefault(name[:7], set()).add(pod["spec"]["nodeName"])
    assert sorted(len(used) for used in hosts.values()) == [1, 1, 1]
    assert len(set.union(*hosts.values())) == 3


def test_replicas_may_have_a_service_each():
    here = world()
    here.create(LEADER_WORKER_SET, lws(networkConfig={"subdomainPolicy": "UniquePerReplica"}))
    here.settle()
    assert set(here.of(SERVICE)) == {"serve-0", "serve-1"}
    service = here.find(SERVICE, "serve-1")
    assert service["spec"]["selector"] == {
        "leaderworkerset.sigs.k8s.io/name": "serve",
        "leaderworkerset.sigs.k8s.io/group-index": "1",
    }
    assert here.find(POD, "serve-1")["spec"]["subdomain"] == "serve-1"
    assert here.find(POD, "serve-1-2")["spec"]["subdomain"] == "serve-1"


def test_what_a_set_has_left_behind_is_taken_over_by_the_next_of_its_name():
    here = world()
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    before = uids(here)
    here.delete(LEADER_WORKER_SET, "serve", propagation="Orphan")
    here.settle()
    assert here.of(LEADER_WORKER_SET) == {}
    assert uids(here) == before
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    assert not replaced(before, uids(here))
    assert holding(here) == {"Available": "AllGroupsReady"}
    here.delete(LEADER_WORKER_SET, "serve")
    here.settle()
    assert [kind.name for kind in (POD, STATEFUL_SET, POD_GROUP, WORKLOAD, SERVICE) if here.of(kind)] == []
