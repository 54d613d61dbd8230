"""Gangs in every form in a running cluster: bound together, and told how they stand in the words of their own API."""

import time

import pytest
from msgspec.structs import replace

from posse.engine.decisions import Finding, ReportGroup
from posse.engine.engine import Engine
from posse.engine.groups.forms import VOLCANO
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.proof import Outcome
from posse.kinds.registry import (
    COSCHEDULING_POD_GROUP,
    EVENT,
    NODE,
    POD,
    POD_GROUP,
    POSSE_POD_GROUP,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from posse.runtime.scheduling.scheduler import SchedulerLoop
from posse.writes.group_status import group_note, group_status

POLICY = {"schedulingPolicy": {"gang": {"minCount": 2}}}
TEMPLATE = {"name": "a", **POLICY}
# By form: the kind, the spec of a gang of two, and how a pod names it.
FORMS = {
    "native": (POD_GROUP, POLICY, {}, {"schedulingGroup": {"podGroupName": "g"}}),
    "posse": (POSSE_POD_GROUP, POLICY, {"labels": {"scheduling.posse.dev/pod-group": "g"}}, {}),
    "coscheduling": (
        COSCHEDULING_POD_GROUP,
        {"minMember": 2, "scheduleTimeoutSeconds": 1},
        {"labels": {"scheduling.x-k8s.io/pod-group": "g"}},
        {},
    ),
    "volcano": (
        VOLCANO_POD_GROUP,
        {"minMember": 2},
        {"annotations": {"scheduling.k8s.io/group-name": "g"}},
        {},
    ),
    "workload": (
        WORKLOAD,
        {"podGroupTemplates": [TEMPLATE]},
        {},
        {"workloadRef": {"name": "g", "podGroup": "a", "podGroupReplicaKey": "key-1"}},
    ),
}


async def run(lab):
    await SchedulerLoop(lab.transport, Engine(EngineOptions()), time.time).run()


async def add_node(lab, name):
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    await lab.transport.create(NODE, "", {"metadata": {"name": name}, "status": status})


async def add_gang(lab, form, *pods, minimum_cpu="4"):
    kind, spec, metadata, naming = FORMS[form]
    await lab.transport.create(kind, "default", {"metadata": {"name": "g"}, "spec": spec})
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": minimum_cpu}}}
    for name in pods:
        body = {"metadata": {"name": name, **metadata}, "spec": {"containers": [container], **naming}}
        await lab.transport.create(POD, "default", body)


def status(lab, form):
    return lab.find(FORMS[form][0], "default", "g").get("status", {})


def conditions(lab, form):
    return {item["type"]: item for item in status(lab, form).get("conditions", [])}


def is_bound(lab, name):
    return lab.find(POD, "default", name)["spec"].get("nodeName")


def events(lab, reason):
    found = lab.service.list(EVENT, "default").items
    return [event for event in found if event["reason"] == reason and event["involvedObject"]["name"] == "g"]


def grows_into(in_lab, form, waits, started):
    """A gang of two waits on one node, as `waits` says, and starts on two, as `started` says."""

    async def scenario(lab):
        await add_node(lab, "n1")
        await add_gang(lab, form, "p1", "p2")
        await lab.until(lambda: waits(lab))
        assert not any(is_bound(lab, name) for name in ("p1", "p2"))
        await add_node(lab, "n2")
        await lab.until(lambda: all(is_bound(lab, name) for name in ("p1", "p2")))
        await lab.until(lambda: started(lab))

    in_lab(scenario, run)


@pytest.mark.parametrize("form", ["native", "posse"])
def test_groups_in_the_shape_of_kubernetes_have_a_condition(in_lab, form):
    def condition(lab):
        return conditions(lab, form).get("PodGroupInitiallyScheduled", {})

    grows_into(
        in_lab,
        form,
        lambda lab: condition(lab).get("reason") == "Unschedulable",
        lambda lab: condition(lab).get("status") == "True",
    )


def test_groups_of_coscheduling_have_a_phase_and_an_event(in_lab):
    def waits(lab):
        told = events(lab, "FailedScheduling")
        return told and "only 1 of the 2" in told[0]["message"]

    grows_into(
        in_lab,
        "coscheduling",
        lambda lab: waits(lab) and status(lab, "coscheduling")["phase"] == "Pending",
        lambda lab: status(lab, "coscheduling")["phase"] == "Scheduling",
    )


def test_groups_of_volcano_have_a_phase_and_conditions(in_lab):
    def waits(lab):
        condition = conditions(lab, "volcano").get("Unschedulable", {})
        return condition.get("status") == "True" and status(lab, "volcano")["phase"] == "Inqueue"

    def started(lab):
        known = {name: item["status"] for name, item in conditions(lab, "volcano").items()}
        is_running = status(lab, "volcano")["phase"] == "Running"
        return is_running and known == {"Scheduled": "True", "Unschedulable": "False"}

    grows_into(in_lab, "volcano", waits, started)


def test_groups_of_a_workload_have_events_on_it(in_lab):
    def about_the_workload(lab, reason):
        told = events(lab, reason)
        return (
            told
            and told[0]["involvedObject"]["kind"] == "Workload"
            and "default/g/a/key-1" in told[0]["message"]
        )

    grows_into(
        in_lab,
        "workload",
        lambda lab: about_the_workload(lab, "FailedScheduling"),
        lambda lab: about_the_workload(lab, "Scheduled"),
    )


@pytest.mark.parametrize("form", FORMS)
def test_pods_of_every_form_are_told_why_they_wait(in_lab, form):
    async def scenario(lab):
        await add_node(lab, "n1")
        await add_gang(lab, form, "p1", "p2")

        def reasons():
            told = lab.find(POD, "default", "p1")["status"].get("conditions", [])
            return [item["reason"] for item in told if item["type"] == "PodScheduled"]

        await lab.until(lambda: reasons() == ["Unschedulable"])

    in_lab(scenario, run)


def test_a_group_of_volcano_that_cannot_be_tried_stays_pending():
    key = GroupKey("default", "g", VOLCANO.name)
    report = ReportGroup(key, "u", scheduled=False, reason="SchedulerError", message="they disagree")
    assert group_status(report, "now")["phase"] == "Pending"
    assert group_note(report).message == "they disagree"


def test_only_the_first_report_says_since_when():
    key = GroupKey("default", "g")
    for is_first in (True, False):
        report = ReportGroup(key, "u", scheduled=False, reason="R", message="", is_first=is_first)
        [condition] = group_status(report, "now")["conditions"]
        assert ("lastTransitionTime" in condition) == is_first


@pytest.mark.parametrize(
    ("outcome", "status"),
    [(Outcome.PLACED, "True"), (Outcome.IMPOSSIBLE, "False"), (Outcome.EXHAUSTED, "Unknown")],
)
def test_what_is_known_of_a_placement_is_a_condition_of_its_own(outcome, status):
    finding = Finding(outcome, "because", is_new=False)
    report = ReportGroup(
        GroupKey("default", "g"), "u", scheduled=False, reason="R", message="", finding=finding
    )
    _, condition = group_status(report, "now")["conditions"]
    assert condition == {
        "type": "scheduling.posse.dev/PlacementExists",
        "status": status,
        "reason": outcome.value,
        "message": "because",
    }
    report = replace(report, finding=replace(finding, is_new=True))
    assert group_status(report, "now")["conditions"][1]["lastTransitionTime"] == "now"
