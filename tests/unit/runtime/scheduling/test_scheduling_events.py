"""Events as the API server keeps them, of bindings and failures word for word those of kube-scheduler."""

import asyncio

from msgspec.structs import replace

from posse.engine.decisions import Bind, Evict, MarkDisrupted, Placement, ReportGroup, ReportPod
from posse.engine.groups.forms import WORKLOAD_REF
from posse.engine.keys import GroupKey, GroupRef, PodRef
from posse.kinds.registry import EVENT, POD
from posse.runtime.scheduling.carrier import Carrier
from posse.runtime.scheduling.observers import DecisionObservers, Round
from posse.runtime.watching.event_recorder import EventRecorder
from posse.writes.round_writes import writes_of

CLOCK_SECONDS = 1000.5
SPEC = {"containers": [{"name": "main", "image": "pause"}]}


def events_after(in_lab, decide, *names, most=1):
    """Carry out what `decide` makes of the pods of these names and return the events about it, once there are so many."""
    kept = []

    async def scenario(lab):
        recorder = EventRecorder(lab.transport, lambda: CLOCK_SECONDS)
        carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda: CLOCK_SECONDS)
        pods = [await create(lab, name) for name in names]
        writing = asyncio.create_task(recorder.run())
        decisions = decide(*pods)
        await carry_out(carrier, decisions)
        await lab.until(lambda: len(lab.service.list(EVENT, "default").items) >= most)
        writing.cancel()
        kept.extend(lab.service.list(EVENT, "default").items)

    in_lab(scenario)
    return kept


async def carry_out(carrier, decisions):
    done = Round(0.0, 0.0, decisions, ())
    writes = writes_of(decisions)
    setbacks = await carrier.act(done, writes)
    await carrier.report(writes, setbacks)
    return setbacks


async def create(lab, name):
    made = await lab.transport.create(POD, "default", {"metadata": {"name": name}, "spec": SPEC})
    return PodRef("default", name, made["metadata"]["uid"], "default-scheduler")


def told(event):
    return tuple(event[field] for field in ("type", "reason", "action", "message", "reportingComponent"))


def test_a_binding(in_lab):
    (event,) = events_after(in_lab, lambda pod: [Bind((Placement(pod, "n1"),))], "p1")
    text = "Successfully assigned default/p1 to n1"
    assert told(event) == ("Normal", "Scheduled", "Binding", text, "default-scheduler")
    assert event["involvedObject"] | {"uid": ""} == {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "default",
        "name": "p1",
        "uid": "",
    }
    assert event["reportingInstance"].startswith("default-scheduler-")
    assert event["eventTime"] == "1970-01-01T00:16:40.500000Z"


def test_no_node(in_lab):
    text = "0/3 nodes are available: 3 Insufficient cpu."
    (event,) = events_after(in_lab, lambda pod: [ReportPod(pod, "Unschedulable", text)], "p1")
    assert told(event) == ("Warning", "FailedScheduling", "Scheduling", text, "default-scheduler")


def test_a_binding_that_the_api_refuses(in_lab):
    def twice(pod):
        return [Bind((Placement(pod, "n1"),)), Bind((Placement(pod, "n2"),))]

    events = events_after(in_lab, twice, "p1")
    (failure,) = [event for event in events if event["reason"] == "FailedScheduling"]
    assert failure["type"] == "Warning"
    assert failure["message"].startswith("binding rejected: ")
    assert 'already assigned to node "n1"' in failure["message"]


def test_preemption_names_the_pod_that_needs_the_room(in_lab):
    def evict(victim, urgent):
        return [Evict(victim, urgent, "n1")]

    events = events_after(in_lab, evict, "p1", "urgent", most=2)
    (event,) = [one for one in events if one["reason"] == "Preempted"]
    text = "Preempted by pod default/urgent on node n1"
    assert told(event) == ("Normal", "Preempted", "Preempting", text, "default-scheduler")
    assert (event["involvedObject"]["name"], event["related"]["name"]) == ("p1", "urgent")


def test_preemption_names_the_group_that_needs_the_room_and_where_the_victim_was(in_lab):
    def evict(victim):
        return [Evict(victim, GroupRef(GroupKey("default", "urgent"), "u", "default-scheduler"), "n1")]

    events = events_after(in_lab, evict, "p1", most=2)
    (event,) = [one for one in events if one["reason"] == "Preempted"]
    assert event["message"] == "Preempted by podgroup default/urgent on node n1"
    assert (event["related"]["kind"], event["related"]["name"]) == ("PodGroup", "urgent")


def test_who_needs_the_room_is_told_which_groups_leave_as_a_whole(in_lab):
    def evict(victim, urgent):
        return [Evict(victim, urgent, "n1"), MarkDisrupted(GroupKey("default", "low"), "u", "why", urgent)]

    events = events_after(in_lab, evict, "p1", "urgent", most=2)
    (event,) = [one for one in events if one["reason"] == "Preempting"]
    text = "Preempting 1 pod of lower priority: default/p1; as a whole podgroup default/low"
    assert event["message"] == text


def test_who_needs_the_room_is_told_who_leaves(in_lab):
    def all_for_one(urgent, *victims):
        return [Evict(victim, urgent, "n1") for victim in victims]

    events = events_after(in_lab, all_for_one, "urgent", "p1", "p2", "p3", "p4", "p5", most=6)
    (event,) = [one for one in events if one["reason"] == "Preempting"]
    text = "Preempting 5 pods of lower priority: default/p1, default/p2, default/p3 and 2 more"
    assert told(event) == ("Normal", "Preempting", "Preempting", text, "default-scheduler")
    assert event["involvedObject"]["name"] == "urgent"


def test_a_group_that_goes_as_a_whole_is_told_for_whom(in_lab):
    def mark(urgent):
        return [
            MarkDisrupted(
                GroupKey("default", "low", WORKLOAD_REF.name, "workers"), "low-uid", "because", urgent
            )
        ]

    (event,) = events_after(in_lab, mark, "urgent")
    text = "default/low/workers: Preempted as a whole by pod default/urgent"
    assert told(event)[1:4] == ("Preempted", "Preempting", text)
    assert (event["involvedObject"]["kind"], event["involvedObject"]["name"]) == ("Workload", "low")


def test_a_victim_says_on_whose_behalf_it_has_to_go(in_lab):
    seen = []

    async def scenario(lab):
        victim, urgent = await create(lab, "p1"), await create(lab, "urgent")
        await lab.transport.bind("default", "p1", victim.uid, "n1")
        recorder = EventRecorder(lab.transport, lambda: CLOCK_SECONDS)
        carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda: CLOCK_SECONDS)
        await carry_out(carrier, [Evict(victim, urgent, "n1")])
        seen.append(lab.find(POD, "default", "p1"))

    in_lab(scenario)
    conditions = {condition["type"]: condition for condition in seen[0]["status"]["conditions"]}
    text = "default-scheduler: preempting to accommodate a higher priority pod default/urgent"
    assert conditions["DisruptionTarget"]["message"] == text


def test_that_fewer_victims_are_left_is_no_event(in_lab):
    def count_down(pod):
        report = ReportGroup(
            GroupKey("default", "g1", WORKLOAD_REF.name),
            "u",
            scheduled=False,
            reason="Unschedulable",
            message="two",
            scheduler_name="default-scheduler",
        )
        return [
            replace(report, is_news=False, message="one"),
            report,
            ReportPod(pod, "Unschedulable", "x"),
        ]

    events = events_after(in_lab, count_down, "p1", most=2)
    assert sorted(event["message"] for event in events) == ["default/g1: two", "x"]


def test_nothing_is_told_about_a_pod_that_is_gone(in_lab):
    async def scenario(lab):
        gone = PodRef("default", "gone", "some-uid", "default-scheduler")
        recorder = EventRecorder(lab.transport, lambda: CLOCK_SECONDS)
        carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda: CLOCK_SECONDS)
        (refusal,) = await carry_out(carrier, [Bind((Placement(gone, "n1"),))])
        assert "not found" in refusal.reason
        assert not recorder._waiting

    in_lab(scenario)
