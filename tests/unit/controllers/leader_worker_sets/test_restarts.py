"""When a replica of a LeaderWorkerSet is recreated as a whole, and when it is left alone."""

import pytest

from posse.controllers.leader_worker_sets.observed_set import Group, ObservedLeaderWorkerSet
from posse.controllers.leader_worker_sets.restarts import Loss, reason_to_restart
from posse.kinds.registry import LEADER_WORKER_SET, NODE, POD, STATEFUL_SET
from posse.model.decoding import decode
from posse.model.leader_worker_set import LeaderWorkerSet
from posse.model.timestamps import format_timestamp
from tests.support.controller_world import NOON
from tests.support.leader_worker_set_world import PROVIDER, holding, lws, names, replaced, uids, world

GROUP_0 = {"serve-0", "serve-0-1", "serve-0-2"}


@pytest.mark.parametrize("provider", ["posse", "volcano", "coscheduling", "none"])
@pytest.mark.parametrize("victim", ["serve-0", "serve-0-1"])
@pytest.mark.parametrize("grace_seconds", [None, 0])
def test_a_replica_that_loses_a_pod_is_made_anew_as_a_whole(provider, victim, grace_seconds):
    here = world()
    here.create(LEADER_WORKER_SET, lws(annotations={PROVIDER: provider}))
    here.settle()
    before = uids(here)
    here.delete(POD, victim, grace_seconds=grace_seconds)
    here.settle()
    assert replaced(before, uids(here)) == GROUP_0
    assert set(here.bound()) == names(2, 3)


def restart_container(here, name):
    status = [{"name": "c", "restartCount": 1, "image": "i:1", "imageID": ""}]
    here.patch_status(POD, "default", name, {"containerStatuses": status})


@pytest.mark.parametrize(
    ("policy", "is_recreated"),
    [("RecreateGroupOnPodRestart", GROUP_0), ("RecreateGroupAfterStart", GROUP_0), ("None", set())],
)
def test_a_restarted_container_matters_by_policy(policy, is_recreated):
    here = world()
    here.create(LEADER_WORKER_SET, lws(template={"restartPolicy": policy}))
    here.settle()
    before = uids(here)
    restart_container(here, "serve-0-2")
    here.settle()
    assert replaced(before, uids(here)) == is_recreated


def test_without_recreation_only_the_lost_pod_is_replaced():
    here = world()
    here.create(LEADER_WORKER_SET, lws(template={"restartPolicy": "None"}))
    here.settle()
    before = uids(here)
    here.delete(POD, "serve-0-1")
    here.settle()
    assert replaced(before, uids(here)) == {"serve-0-1"}


@pytest.mark.parametrize("how", ["policy", "annotation"])
def test_a_replica_that_has_not_started_is_given_time(how):
    here = world(nodes=1, per_node=2)
    spec = {"template": {"restartPolicy": "RecreateGroupAfterStart"}} if how == "policy" else {}
    name = "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start"
    annotations = {PROVIDER: "none"} | ({name: "yes"} if how == "annotation" else {})
    here.create(LEADER_WORKER_SET, lws(replicas=1, annotations=annotations, **spec))
    here.settle()
    before = uids(here)
    restart_container(here, here.bound()[0])
    here.settle()
    assert not replaced(before, uids(here))


def test_a_loss_that_nobody_saw_is_noticed():
    here = world()
    here.create(LEADER_WORKER_SET, lws())
    here.settle()
    before = uids(here)
    here.now += 5
    stateful_sets, leader_worker_sets = here.reconcilers
    here.delete(POD, "serve-0-1", grace_seconds=0)
    stateful_sets.act()
    leader_worker_sets.restart()
    here.settle()
    assert replaced(before, uids(here)) == GROUP_0


def pod_of_gang(name, made, placed):
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": format_timestamp(placed)}
    metadata = {"name": name, "creationTimestamp": format_timestamp(made)}
    return {"metadata": metadata, "status": {"conditions": [condition]}}


@pytest.mark.parametrize(
    ("made", "completes_pods", "is_replacement"),
    [(0, False, False), (2, False, True), (2, True, False), (60, True, True)],
)
def test_clocks_of_several_api_servers_are_not_taken_for_a_loss(made, completes_pods, is_replacement):
    spec = decode(LeaderWorkerSet, {"spec": lws()["spec"]}).spec
    scene = ObservedLeaderWorkerSet(lws(), spec, completes_pods=completes_pods)
    leader, worker = pod_of_gang("serve-0", NOON, NOON + 1), pod_of_gang("serve-0-1", NOON + made, NOON + 3)
    reason = reason_to_restart(scene, Group(leader, None, [worker]), loss=Loss.NONE, is_gang=True)
    assert reason == ("Pod serve-0-1 has replaced another" if is_replacement else "")


@pytest.mark.parametrize("unknown", [None, "", "yesterday"])
def test_from_times_that_nobody_can_read_nothing_follows(unknown):
    scene = ObservedLeaderWorkerSet(lws(), decode(LeaderWorkerSet, {"spec": lws()["spec"]}).spec)
    leader, worker = pod_of_gang("serve-0", NOON, NOON + 1), pod_of_gang("serve-0-1", NOON + 9, NOON + 9)
    leader["status"]["conditions"][0]["lastTransitionTime"] = unknown
    group = Group(leader, None, [worker])
    assert reason_to_restart(scene, group, loss=Loss.NONE, is_gang=True) == ""
    worker["metadata"]["creationTimestamp"] = unknown
    assert reason_to_restart(scene, group, loss=Loss.NONE, is_gang=True) == ""


def test_what_is_lost_before_the_start_is_left_to_its_stateful_set_where_that_is_asked_for():
    here = world(nodes=1, per_node=2)
    policy = {"restartPolicy": "RecreateGroupAfterStart"}
    here.create(LEADER_WORKER_SET, lws(replicas=1, annotations={PROVIDER: "none"}, template=policy))
    here.settle()
    before = uids(here)
    (worker,) = [name for name in here.bound() if name != "serve-0"]
    here.delete(POD, worker, grace_seconds=0)
    here.settle()
    assert replaced(before, uids(here)) == {worker}


def test_what_is_lost_after_the_start_is_not():
    here = world()
    here.create(LEADER_WORKER_SET, lws(template={"restartPolicy": "RecreateGroupAfterStart"}))
    here.settle()
    before = uids(here)
    here.delete(POD, "serve-0-1", grace_seconds=0)
    here.settle()
    assert replaced(before, uids(here)) == GROUP_0


def test_replicas_that_began_with_their_leader_stay_when_the_set_asks_for_another_start():
    here = world()
    here.create(LEADER_WORKER_SET, lws(startupPolicy="LeaderReady"))
    here.settle()
    before = uids(here)
    here.patch(LEADER_WORKER_SET, "serve", startupPolicy="LeaderCreated")
    here.settle()
    assert not replaced(before, uids(here))
    assert holding(here) == {"Available": "AllGroupsReady"}


def test_a_scheduler_that_starts_the_leader_before_its_workers_exist_may_do_so():
    here = world()
    here.create(LEADER_WORKER_SET, lws(annotations={PROVIDER: "yunikorn"}))
    here.settle()
    before = uids(here)
    here.now += 60
    here.reconcilers[1].restart()
    here.settle()
    assert not replaced(before, uids(here))
    assert holding(here) == {"Available": "AllGroupsReady"}


def test_workers_wait_until_the_domain_of_their_leader_is_known():
    here = world(nodes=1, per_node=8)
    exclusive = {"leaderworkerset.sigs.k8s.io/exclusive-topology": "zone", PROVIDER: "none"}
    here.create(LEADER_WORKER_SET, lws(replicas=1, annotations=exclusive))
    stateful_sets, leader_worker_sets = here.reconcilers
    leader_worker_sets.act()
    stateful_sets.act()
    here.service.bind("default", "serve-0", {"metadata": {"name": "serve-0"}, "target": {"name": "n0"}})
    here.settle()
    assert set(here.of(STATEFUL_SET)) == {"serve"}
    node = here.service.get(NODE, "", "n0")
    labelled = {**node, "metadata": node["metadata"] | {"labels": {"zone": "a"}}}
    here.service.update(NODE, "", "n0", labelled)
    here.settle()
    assert here.find(STATEFUL_SET, "serve-0")["spec"]["template"]["spec"]["nodeSelector"] == {"zone": "a"}
    assert set(here.bound()) == names(1, 3)


def test_a_provider_that_nobody_knows_is_told_in_a_condition():
    here = world()
    here.create(LEADER_WORKER_SET, lws())
    obj = here.find(LEADER_WORKER_SET, "serve")
    _, controller = here.reconcilers
    strange = {**obj, "metadata": obj["metadata"] | {"annotations": {PROVIDER: "maui"}}}
    controller.reconciler.see(LEADER_WORKER_SET, strange)
    plan = controller.reconciler.plan(obj["metadata"]["uid"], here.now)
    ((step,),) = plan.stages
    conditions = {item["type"]: item["reason"] for item in step.obj["status"]["conditions"]}
    assert conditions["WorkloadSchedulingReady"] == "UnknownProvider"
