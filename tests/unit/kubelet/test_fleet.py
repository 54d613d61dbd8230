import copy

import pytest

from posse.kubelet.fleet import Fleet
from posse.kubelet.nodes import simulated_node
from posse.kubelet.writes import (
    PatchNodeStatus,
    PatchPodStatus,
    RemoveLease,
    RemovePod,
    Stuck,
    WarnAboutPod,
)
from posse.model.timestamps import format_timestamp

NOW = 1_800_000_000.25
MANY = 100_000


def node(ordinal=1, **labels):
    made = simulated_node(ordinal, (), NOW)
    made["metadata"] |= {"uid": f"node-{ordinal}", "resourceVersion": "1"}
    made["metadata"]["labels"] |= labels
    return made


def pod(name="p", node_name="node-0001", uid="u1", annotations=None):
    return {
        "metadata": {
            "namespace": "default",
            "name": name,
            "uid": uid,
            "resourceVersion": "5",
            "annotations": annotations,
        },
        "spec": {"nodeName": node_name, "containers": [{"name": "main"}], "restartPolicy": "Never"},
        "status": {"phase": "Pending"},
    }


def fleet_with(*nodes):
    fleet = Fleet()
    for made in nodes:
        fleet.see_node(made, NOW)
    return fleet


def due(fleet, now=NOW):
    return fleet.due_writes(now, MANY)


def carried_out(made, write):
    """Return the pod as the API holds it after the write."""
    changed = copy.deepcopy(made)
    changed["status"] |= write.patch["status"]
    changed["metadata"]["resourceVersion"] = str(int(made["metadata"]["resourceVersion"]) + 1)
    return changed


def test_a_pod_on_a_simulated_node_starts():
    fleet = fleet_with(node())
    fleet.see_pod(pod(), NOW)
    (write,) = due(fleet)
    assert isinstance(write, PatchPodStatus)
    assert write.patch["status"]["phase"] == "Running"
    assert write.patch["status"]["hostIP"] == "172.16.0.1"
    assert write.patch["metadata"] == {"uid": "u1", "resourceVersion": "5"}


def test_a_pod_starts_once_and_not_again_before_it_is_seen_changed():
    fleet = fleet_with(node())
    fleet.see_pod(pod(), NOW)
    assert len(due(fleet)) == 1
    assert due(fleet, NOW + 1) == []


def test_a_pod_lives_through_its_whole_plan():
    fleet = fleet_with(node())
    made = pod(annotations={"posse.dev/run-seconds": "5"})
    fleet.see_pod(made, NOW)
    made = carried_out(made, due(fleet)[0])
    fleet.see_pod(made, NOW + 0.01)
    assert due(fleet, NOW + 4.9) == []
    (write,) = due(fleet, NOW + 5.1)
    made = carried_out(made, write)
    assert made["status"]["phase"] == "Succeeded"
    fleet.see_pod(made, NOW + 5.2)
    assert due(fleet, NOW + 1000) == []


def test_pods_wait_for_a_node_and_for_its_readiness():
    fleet = Fleet()
    fleet.see_pod(pod(), NOW)
    assert due(fleet) == []
    bare = {"metadata": dict(node()["metadata"]), "spec": {}}
    fleet.see_node(bare, NOW)
    (write,) = due(fleet)
    assert isinstance(write, PatchNodeStatus)
    fleet.see_node(carried_out(bare | {"status": {}}, write), NOW)
    (write,) = due(fleet)
    assert isinstance(write, PatchPodStatus)


def test_a_bare_simulated_node_gets_a_capacity_and_an_address_of_its_own():
    fleet = fleet_with(node(1))
    bare = {"metadata": dict(node(2)["metadata"]), "spec": {}}
    fleet.see_node(bare, NOW)
    (write,) = due(fleet)
    assert write.name == "node-0002"
    assert write.patch["status"]["allocatable"]["cpu"] == "32"
    assert write.patch["status"]["addresses"][0]["address"] == "172.16.0.2"


def test_a_ready_node_that_does_not_say_where_its_kubelet_is_reports_again_before_its_pods_go_on():
    former = node()
    former["status"]["addresses"] = [
        item for item in former["status"]["addresses"] if item["type"] != "InternalDNS"
    ]
    fleet = fleet_with(former)
    fleet.see_pod(pod(), NOW)
    (write,) = due(fleet)
    assert isinstance(write, PatchNodeStatus)
    addresses = {item["type"]: item["address"] for item in write.patch["status"]["addresses"]}
    assert addresses == {"InternalIP": "172.16.0.1", "Hostname": "node-0001", "InternalDNS": "localhost"}
    reported = carried_out(former, write)
    fleet.see_node(reported, NOW)
    (write,) = due(fleet)
    assert isinstance(write, PatchPodStatus)
    fleet.see_node(reported, NOW)
    assert due(fleet) == []


def test_nodes_of_others_and_their_pods_are_left_alone():
    stranger = node()
    del stranger["metadata"]["labels"]["posse.dev/simulated"]
    stranger["status"]["conditions"] = []
    fleet = fleet_with(stranger)
    fleet.see_pod(pod(), NOW)
    assert fleet.next_wakeup() is None
    assert fleet.next_heartbeat() is None
    assert fleet.due_writes(NOW + 1e6, MANY) == []
    assert fleet.due_heartbeats(NOW + 1e6, MANY) == []


def test_pods_without_a_node_are_none_of_its_business():
    fleet = fleet_with(node())
    waiting = pod()
    del waiting["spec"]["nodeName"]
    fleet.see_pod(waiting, NOW)
    fleet.lose_pod("default", "p")
    assert due(fleet) == []


def test_every_pod_has_an_address_of_its_own():
    fleet = fleet_with(node())
    for number in range(50):
        fleet.see_pod(pod(f"p{number}", uid=f"u{number}"), NOW)
    addresses = [write.patch["status"]["podIP"] for write in due(fleet)]
    assert len(set(addresses)) == 50


def test_addresses_from_before_a_restart_are_respected():
    fleet = fleet_with(node())
    old = pod("old", uid="old")
    old["status"] = {"phase": "Running", "podIP": "10.128.0.1"}
    fleet.see_pod(old, NOW)
    fleet.see_pod(pod("new", uid="new"), NOW)
    (write,) = due(fleet)
    assert write.patch["status"]["podIP"] == "10.128.0.2"


def test_bad_annotations_are_told_once_and_the_pod_starts_all_the_same():
    fleet = fleet_with(node())
    made = pod(annotations={"posse.dev/run-seconds": "soon"})
    fleet.see_pod(made, NOW)
    start, warning = due(fleet)
    assert isinstance(warning, WarnAboutPod)
    assert (warning.namespace, warning.name, warning.uid) == ("default", "p", "u1")
    assert "posse.dev/run-seconds" in warning.message
    fleet.see_pod(carried_out(made, start), NOW)
    assert due(fleet) == []


def test_a_deleted_pod_is_removed_after_its_time_to_stop():
    fleet = fleet_with(node())
    made = pod(annotations={"posse.dev/stop-seconds": "3"})
    made["status"]["phase"] = "Running"
    made["metadata"] |= {"deletionTimestamp": format_timestamp(NOW + 30), "deletionGracePeriodSeconds": 30}
    fleet.see_pod(made, NOW)
    assert due(fleet, NOW + 2.9) == []
    assert due(fleet, NOW + 3.1) == [RemovePod("default", "p", "u1")]


def test_a_deleted_node_takes_its_pods_and_its_lease_along():
    fleet = fleet_with(node())
    started = pod()
    started["status"]["phase"] = "Running"
    fleet.see_pod(started, NOW)
    fleet.lose_node("node-0001", NOW)
    assert fleet.next_wakeup() == 0.0
    assert due(fleet) == [RemoveLease("node-0001")]
    assert due(fleet, NOW + 1) == []
    assert due(fleet, NOW + 3) == [RemovePod("default", "p", "u1")]
    fleet.lose_pod("default", "p")
    assert fleet.next_wakeup() is None


def test_a_node_that_comes_back_in_time_keeps_its_pods():
    fleet = fleet_with(node())
    fleet.see_pod(pod(), NOW)
    fleet.lose_node("node-0001", NOW)
    fleet.see_node(node(), NOW + 1)
    writes = due(fleet, NOW + 60)
    assert not any(isinstance(write, RemovePod) for write in writes)


def test_pods_on_a_node_nobody_knows_go_as_garbage_collection_does_it():
    fleet = Fleet()
    fleet.see_pod(pod(node_name="ghost"), NOW)
    fleet.see_pod(pod(node_name="ghost"), NOW + 30)
    assert due(fleet, NOW + 39) == []
    assert due(fleet, NOW + 41) == [RemovePod("default", "p", "u1")]


def test_a_new_pod_of_the_same_name_starts_from_scratch():
    fleet = fleet_with(node(1), node(2))
    fleet.see_pod(pod(uid="first"), NOW)
    fleet.see_pod(pod(uid="second", node_name="node-0002"), NOW)
    (write,) = due(fleet)
    assert write.patch["metadata"]["uid"] == "second"
    assert write.patch["status"]["hostIP"] == "172.16.0.2"
    fleet.lose_node("node-0001", NOW)
    assert due(fleet, NOW + 60) == [RemoveLease("node-0001")]


def test_taking_the_label_away_hands_the_node_over():
    fleet = fleet_with(node())
    fleet.see_node(node(**{"posse.dev/simulated": "no"}), NOW)
    fleet.see_pod(pod(), NOW)
    assert fleet.due_writes(NOW + 1000, MANY) == []


def test_failed_writes_are_tried_again_when_asked_for():
    fleet = fleet_with(node())
    fleet.see_pod(pod(), NOW)
    (write,) = due(fleet)
    fleet.try_again(write, NOW + 5)
    assert due(fleet, NOW + 4) == []
    assert due(fleet, NOW + 6) == [
        PatchPodStatus("default", "p", write.patch | {"status": write.patch["status"] | due_times(NOW + 6)})
    ]


def due_times(now):
    """Return the parts of a start that depend on when it happens."""
    fleet = fleet_with(node())
    fleet.see_pod(pod(), now)
    (write,) = due(fleet, now)
    return write.patch["status"]


@pytest.mark.parametrize(
    "write", [PatchPodStatus("default", "gone", {}), PatchNodeStatus("gone", {}), RemoveLease("gone")]
)
def test_trying_again_what_is_gone_is_harmless(write):
    fleet = Fleet()
    fleet.try_again(write, NOW)
    assert fleet.next_wakeup() is None


def test_each_node_beats_every_ten_seconds_and_not_all_at_once():
    fleet = fleet_with(*(node(ordinal) for ordinal in range(1, 9)))
    beats = [(now, fleet.due_heartbeats(NOW + now, MANY)) for now in range(21)]
    counts = [len(writes) for _, writes in beats]
    assert sum(counts) == 16
    assert max(counts) < 16
    lease = beats[1][1][0].lease
    assert lease["metadata"]["namespace"] == "kube-node-lease"
    assert lease["spec"]["holderIdentity"] == beats[1][1][0].node
    assert lease["spec"]["leaseDurationSeconds"] == 40


def test_heartbeats_of_many_nodes_keep_a_bounded_rate():
    fleet = fleet_with(*(node(ordinal) for ordinal in range(1, 2001)))
    fleet.due_heartbeats(NOW + 40, MANY)
    assert len(fleet.due_heartbeats(NOW + 80.1, MANY)) == 2000
    assert len(fleet.due_heartbeats(NOW + 119, MANY)) == 0


def test_heartbeats_do_not_wait_behind_pods():
    fleet = fleet_with(node())
    for number in range(1000):
        fleet.see_pod(pod(f"p{number}", uid=f"u{number}"), NOW)
    assert [beat.node for beat in fleet.due_heartbeats(NOW + 10, 1)] == ["node-0001"]
    assert fleet.next_heartbeat() == NOW + 20


def test_the_limit_bounds_one_batch():
    fleet = fleet_with(node())
    for number in range(10):
        fleet.see_pod(pod(f"p{number}", uid=f"u{number}"), NOW)
    assert len(fleet.due_writes(NOW, 4)) == 4
    assert len(due(fleet)) == 6


def test_a_pod_that_cannot_be_handled_is_told_and_the_others_go_on():
    fleet = fleet_with(node())
    broken = pod("broken", uid="u2")
    del broken["spec"]["containers"]
    for made in (broken, pod("fine")):
        fleet.see_pod(made, NOW)
    stuck, started = due(fleet)
    assert isinstance(stuck, Stuck)
    assert stuck.what == "pod/default/broken"
    assert isinstance(stuck.error, KeyError)
    assert (started.name, started.patch["status"]["phase"]) == ("fine", "Running")
    assert due(fleet, NOW + 1) == []


def claiming(**status):
    made = pod()
    made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "c"}]
    made["status"] |= status
    return made


def claim(*consumers, allocated=True):
    status = {"allocation": {}, "reservedFor": list(consumers)} if allocated else {}
    return {"metadata": {"namespace": "default", "name": "c"}, "status": status}


FOR_THE_POD = {"resource": "pods", "name": "p", "uid": "u1"}


def starts(fleet, at):
    return [
        type(write)
        for write in fleet.due_writes(at, MANY)
        if isinstance(write, PatchPodStatus | WarnAboutPod)
    ]


def test_a_pod_whose_claim_is_not_reserved_for_it_does_not_start():
    fleet = Fleet()
    fleet.see_node(node(), NOW)
    fleet.see_claim(claim({"resource": "pods", "name": "p", "uid": "another"}), NOW)
    fleet.see_pod(claiming(), NOW)
    assert starts(fleet, NOW) == []
    # It is told once.
    (warning,) = [write for write in fleet.due_writes(NOW + 10, MANY) if isinstance(write, WarnAboutPod)]
    assert warning.reason == "FailedPrepareDynamicResources"
    assert warning.message == "resourceclaim default/c: not reserved for pod p"
    fleet.see_pod(claiming(), NOW + 10)
    assert starts(fleet, NOW + 100) == []
    fleet.see_claim(claim(FOR_THE_POD), NOW + 100)
    assert starts(fleet, NOW + 100) == [PatchPodStatus]


def test_a_claim_may_be_seen_later_than_the_pod():
    fleet = Fleet()
    fleet.see_node(node(), NOW)
    fleet.see_pod(claiming(), NOW)
    fleet.see_claim(claim(FOR_THE_POD), NOW + 0.1)
    assert starts(fleet, NOW + 0.1) == [PatchPodStatus]


def test_a_member_starts_with_the_claim_of_its_group():
    fleet = Fleet()
    fleet.see_node(node(), NOW)
    member = claiming()
    member["spec"]["schedulingGroup"] = {"podGroupName": "gang"}
    group = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "gang", "uid": "g"}
    fleet.see_claim(claim(group), NOW)
    fleet.see_pod(member, NOW)
    assert starts(fleet, NOW) == [PatchPodStatus]


def test_a_pod_waits_for_the_claim_of_its_template():
    fleet = Fleet()
    fleet.see_node(node(), NOW)
    made = pod()
    made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    fleet.see_claim(claim(FOR_THE_POD), NOW)
    fleet.see_pod(made, NOW)
    assert starts(fleet, NOW) == []
    made["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": "c"}]
    fleet.see_pod(made, NOW)
    assert starts(fleet, NOW) == [PatchPodStatus]
