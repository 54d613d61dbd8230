"""Simulated nodes that are told to fail, and come back."""

from posse.kubelet.fleet import Fleet
from posse.kubelet.writes import PatchNodeStatus, PatchPodStatus, RemovePod
from posse.model.timestamps import format_timestamp
from tests.unit.kubelet.test_fleet import MANY, NOW, carried_out, due, fleet_with, node, pod


def failing(how, **changes):
    made = node()
    made["metadata"]["annotations"] = {"posse.dev/failure": how}
    made["metadata"]["resourceVersion"] = "2"
    return made | changes


def with_running_pod(restart_policy="Never", **kwargs):
    fleet = fleet_with(node())
    made = pod(**kwargs)
    made["spec"]["restartPolicy"] = restart_policy
    fleet.see_pod(made, NOW)
    made = carried_out(made, due(fleet)[0])
    fleet.see_pod(made, NOW)
    fleet.due_writes(NOW, MANY)
    return fleet, made


def heartbeats(fleet, now):
    return fleet.due_heartbeats(now, MANY)


def deleted(made):
    metadata = {"deletionTimestamp": format_timestamp(NOW + 1), "deletionGracePeriodSeconds": 1}
    return made | {"metadata": made["metadata"] | metadata}


def test_a_silent_node_sends_no_heartbeats_until_it_is_back():
    for how in ("crash", "network"):
        fleet = fleet_with(node())
        assert len(heartbeats(fleet, NOW + 20)) == 1
        fleet.see_node(failing(how), NOW + 20)
        assert fleet.due_writes(NOW + 500, MANY) == []
        assert heartbeats(fleet, NOW + 500) == []
        fleet.see_node(node(), NOW + 500)
        assert len(heartbeats(fleet, NOW + 500)) == 1


def test_a_silent_node_removes_no_pods_until_it_is_back():
    fleet, made = with_running_pod()
    fleet.see_node(failing("network"), NOW)
    fleet.see_pod(deleted(made), NOW)
    assert due(fleet, NOW + 500) == []
    fleet.see_node(node(), NOW + 500)
    assert [type(write) for write in due(fleet, NOW + 500)] == [RemovePod]


def test_containers_outlive_the_loss_of_the_network():
    fleet, _ = with_running_pod()
    fleet.see_node(failing("network"), NOW)
    fleet.see_node(node(), NOW + 500)
    assert due(fleet, NOW + 500) == []


def test_containers_end_with_a_crash_and_their_pod_fails_or_starts_again():
    for policy, phase in (("Never", "Failed"), ("Always", None)):
        fleet, made = with_running_pod(policy)
        fleet.see_node(failing("crash"), NOW)
        assert due(fleet, NOW + 100) == []
        fleet.see_node(node(), NOW + 100)
        (write,) = due(fleet, NOW + 100)
        assert write.patch["status"].get("phase") == phase
        made = carried_out(made, write)
        fleet.see_pod(made, NOW + 101)
        writes = due(fleet, NOW + 103)
        assert bool(writes) is (policy == "Always")
        if writes:
            assert writes[0].patch["status"]["containerStatuses"][0]["restartCount"] == 1


def test_a_node_that_is_not_ready_says_so_and_goes_on_with_its_pods():
    fleet, made = with_running_pod()
    fleet.see_node(failing("not-ready"), NOW)
    (write,) = due(fleet)
    assert isinstance(write, PatchNodeStatus)
    [condition] = write.patch["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "KubeletNotReady")
    fleet.see_node(carried_out(failing("not-ready"), write), NOW)
    assert due(fleet, NOW + 5) == []
    fleet.see_pod(deleted(made), NOW)
    assert [type(each) for each in due(fleet, NOW + 5)] == [RemovePod]


def test_a_node_that_is_back_reports_itself_and_its_pods_ready():
    fleet, made = with_running_pod()
    unknown = failing("network")
    unknown["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    fleet.see_node(unknown, NOW)
    conditions = [
        item | {"status": "False"} if item["type"] == "Ready" else item for item in conditions_of(made)
    ]
    made["status"]["conditions"] = conditions
    fleet.see_pod(made, NOW)
    assert due(fleet, NOW + 100) == []
    back = node()
    back["status"] = unknown["status"]
    fleet.see_node(back, NOW + 100)
    (write,) = due(fleet, NOW + 100)
    fleet.see_node(carried_out(back, write), NOW + 100)
    (write,) = due(fleet, NOW + 100)
    assert isinstance(write, PatchPodStatus)
    assert [item["status"] for item in write.patch["status"]["conditions"] if item["type"] == "Ready"] == [
        "True"
    ]


def conditions_of(made):
    return made["status"]["conditions"]


def test_a_failure_that_is_not_known_is_none():
    fleet = Fleet()
    fleet.see_node(failing("earthquake"), NOW)
    fleet.see_pod(pod(), NOW)
    assert len(due(fleet)) == 1
