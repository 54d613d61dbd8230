"""PodGroups of coscheduling and Volcano say how many of their pods run, in the phases of their own API."""

import pytest

from posse.controllers.foreign_group_status import ForeignGroupStatus
from posse.kinds.registry import COSCHEDULING_POD_GROUP, POD, VOLCANO_POD_GROUP
from tests.support.plans import planned


def group(phase, **counts):
    metadata = {"namespace": "default", "name": "choir", "uid": "g", "resourceVersion": "9"}
    return {"metadata": metadata, "spec": {"minMember": 2}, "status": {"phase": phase, **counts}}


def pod(name, phase, group_name="choir"):
    metadata = {
        "namespace": "default",
        "name": name,
        "labels": {"scheduling.x-k8s.io/pod-group": group_name},
        "annotations": {"scheduling.k8s.io/group-name": group_name},
    }
    return {"metadata": metadata, "status": {"phase": phase}}


def written(kind, before, *phases):
    controller = ForeignGroupStatus(kind)
    controller.see(kind, before)
    for number, phase in enumerate(phases):
        controller.see(POD, pod(f"p{number}", phase))
    steps = planned(controller)
    assert all(step.subresource == "status" for step in steps)
    return [step.patch["status"] for step in steps]


@pytest.mark.parametrize(
    ("before", "phases", "status"),
    [
        ("Pending", ["Pending", "Pending"], []),
        ("Scheduling", ["Running", "Pending"], [{"running": 1}]),
        ("Scheduling", ["Running", "Running"], [{"phase": "Running", "running": 2}]),
        ("Running", ["Running", "Failed"], [{"phase": "Failed", "running": 1, "failed": 1}]),
        ("Running", ["Running", "Pending"], [{"phase": "Scheduling", "running": 1}]),
        ("Running", ["Succeeded", "Succeeded"], [{"phase": "Finished", "succeeded": 2}]),
        ("Finished", [], []),
    ],
)
def test_phases_and_counts_of_coscheduling(before, phases, status):
    assert written(COSCHEDULING_POD_GROUP, group(before), *phases) == status


@pytest.mark.parametrize(
    ("before", "phases", "status"),
    [
        ("Inqueue", ["Pending", "Pending"], []),
        ("Running", ["Running", "Running"], [{"running": 2}]),
        ("Running", ["Running", "Succeeded"], [{"running": 1, "succeeded": 1}]),
        ("Running", ["Succeeded", "Succeeded"], [{"phase": "Completed", "succeeded": 2}]),
    ],
)
def test_phases_and_counts_of_volcano(before, phases, status):
    assert written(VOLCANO_POD_GROUP, group(before), *phases) == status


def test_what_is_written_already_is_not_written_again():
    assert written(COSCHEDULING_POD_GROUP, group("Running", running=2), "Running", "Running") == []


def test_pods_that_go_are_not_counted_and_a_group_without_pods_keeps_its_status():
    controller = ForeignGroupStatus(COSCHEDULING_POD_GROUP)
    controller.see(COSCHEDULING_POD_GROUP, group("Running", running=2))
    for name in ("p0", "p1"):
        controller.see(POD, pod(name, "Running"))
    controller.see(POD, pod("stranger", "Running", group_name="other"))
    controller.lose(POD, pod("p0", "Running"))
    assert [step.patch["status"] for step in planned(controller)] == [{"phase": "Scheduling", "running": 1}]
    controller.lose(POD, pod("p1", "Running"))
    assert planned(controller) == []


def test_a_pod_that_changes_its_group_counts_in_the_new_one_only():
    kind = COSCHEDULING_POD_GROUP
    controller = ForeignGroupStatus(kind)
    controller.see(kind, group("Scheduling"))
    for name in ("p0", "p1"):
        controller.see(POD, pod(name, "Running"))
    planned(controller)
    controller.see(kind, group("Running", running=2))
    controller.see(POD, pod("p0", "Running", "band"))
    (step,) = planned(controller)
    assert step.patch["status"] == {"phase": "Scheduling", "running": 1}
