"""A simulated node rejects pods that exceed what it has, as a kubelet does."""

from posse.kubelet.writes import PatchPodStatus, WarnAboutPod
from tests.unit.kubelet.test_fleet import NOW, carried_out, due, fleet_with, node, pod


def asking(name, **requests):
    made = pod(name, uid=f"uid-{name}")
    made["spec"]["containers"][0]["resources"] = {"requests": requests}
    return made


def phases(writes):
    return {
        write.name: write.patch["status"]["phase"] for write in writes if isinstance(write, PatchPodStatus)
    }


def test_the_second_of_two_that_do_not_fit_together_is_rejected_in_the_same_round():
    fleet = fleet_with(node())
    for name in ("a", "b"):
        fleet.see_pod(asking(name, **{"nvidia.com/gpu": "5"}), NOW)
    writes = due(fleet)
    assert phases(writes) == {"a": "Running", "b": "Failed"}
    [warning] = [write for write in writes if isinstance(write, WarnAboutPod)]
    assert (warning.name, warning.reason) == ("b", "OutOfnvidia.com/gpu")
    assert warning.message.endswith("nvidia.com/gpu, requested: 5, used: 5, capacity: 8")


def test_what_ran_before_a_restart_counts_until_it_ends():
    fleet = fleet_with(node())
    running = asking("a", **{"nvidia.com/gpu": "8"})
    running["status"]["phase"] = "Running"
    fleet.see_pod(running, NOW)
    fleet.see_pod(asking("b", **{"nvidia.com/gpu": "8"}), NOW)
    [rejected, _] = due(fleet)
    assert phases([rejected]) == {"b": "Failed"}
    fleet.see_pod(carried_out(running, rejected), NOW)
    fleet.see_pod(asking("c", **{"nvidia.com/gpu": "8"}), NOW)
    assert phases(due(fleet)) == {"c": "Running"}


def test_what_a_node_does_not_offer_is_no_reason():
    """It may come from claims of devices."""
    fleet = fleet_with(node())
    fleet.see_pod(asking("a", **{"example.com/widget": "1"}), NOW)
    assert phases(due(fleet)) == {"a": "Running"}
