"""Evictions of which a write fails: the engine is told, and no event reports an eviction that did not happen."""

import pytest

from posse.engine.decisions import Evict
from posse.engine.events import EvictionFailed
from posse.engine.keys import PodRef
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import POD
from posse.runtime.scheduling.carrier import Carrier
from posse.runtime.scheduling.observers import DecisionObservers, Round
from posse.runtime.watching.event_recorder import EventRecorder
from posse.writes.round_writes import writes_of

SPEC = {"containers": [{"name": "main", "image": "pause"}]}


async def create(lab, name):
    made = await lab.transport.create(POD, "default", {"metadata": {"name": name}, "spec": SPEC})
    return PodRef("default", name, made["metadata"]["uid"], "default-scheduler")


def failing(code):
    async def fail(*_, **__):
        raise ApiError(code, "Trouble", "no luck")

    return fail


async def act(carrier, decisions):
    return await carrier.act(Round(0.0, 0.0, decisions, ()), writes_of(decisions))


@pytest.mark.parametrize("step", ["patch", "delete"])
@pytest.mark.parametrize(("code", "is_told"), [(500, True), (403, True), (404, False), (409, True)])
def test_the_engine_is_told_unless_the_victim_is_gone(in_lab, monkeypatch, step, code, is_told):
    outcomes = []

    async def scenario(lab):
        victim, urgent = await create(lab, "victim"), await create(lab, "urgent")
        recorder = EventRecorder(lab.transport, lambda: 1000.0)
        carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda: 1000.0)
        monkeypatch.setattr(lab.transport, step, failing(code))
        refusals = await act(carrier, [Evict(victim, urgent, "n1")])
        outcomes.append((victim.uid, refusals, list(recorder._waiting)))

    in_lab(scenario)
    ((uid, refusals, notes),) = outcomes
    assert [type(refusal) for refusal in refusals] == [EvictionFailed] * is_told
    assert all(refusal.pod_uid == uid for refusal in refusals)
    assert notes == []


async def replace(lab, name):
    await lab.transport.delete(POD, "default", name, grace_seconds=0)
    await create(lab, name)


async def remove(lab, name):
    await lab.transport.delete(POD, "default", name, grace_seconds=0)


@pytest.mark.parametrize("overtake", [replace, remove])
@pytest.mark.parametrize("step", ["patch", "delete"])
def test_a_conflict_with_who_came_after_the_victim_is_no_failure(in_lab, monkeypatch, step, overtake):
    outcomes = []

    async def scenario(lab):
        victim, urgent = await create(lab, "victim"), await create(lab, "urgent")
        recorder = EventRecorder(lab.transport, lambda: 1000.0)
        carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda: 1000.0)

        async def refuse(*_, **__):
            monkeypatch.undo()
            await overtake(lab, "victim")
            raise ApiError(409, "Conflict", "too late")

        monkeypatch.setattr(lab.transport, step, refuse)
        outcomes.extend(await act(carrier, [Evict(victim, urgent, "n1")]))
        outcomes.extend(recorder._waiting)

    in_lab(scenario)
    assert outcomes == []


def test_a_victim_that_cannot_be_looked_for_is_not_taken_for_gone(in_lab, monkeypatch):
    outcomes = []

    async def scenario(lab):
        victim, urgent = await create(lab, "victim"), await create(lab, "urgent")
        recorder = EventRecorder(lab.transport, lambda: 1000.0)
        carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda: 1000.0)
        monkeypatch.setattr(lab.transport, "delete", failing(409))
        monkeypatch.setattr(lab.transport, "get", failing(503))
        outcomes.extend(await act(carrier, [Evict(victim, urgent, "n1")]))

    in_lab(scenario)
    assert [type(outcome) for outcome in outcomes] == [EvictionFailed]


def test_of_several_only_those_that_leave_are_named(in_lab, monkeypatch):
    told = []

    async def scenario(lab):
        first, second, urgent = [await create(lab, name) for name in ("first", "second", "urgent")]
        recorder = EventRecorder(lab.transport, lambda: 1000.0)
        carrier = Carrier(lab.transport, recorder, DecisionObservers(), lambda: 1000.0)
        delete = lab.transport.delete

        async def fail_for_the_first(kind, namespace, name, **options):
            if name == "first":
                raise ApiError(503, "Unavailable", "no luck")
            return await delete(kind, namespace, name, **options)

        monkeypatch.setattr(lab.transport, "delete", fail_for_the_first)
        evictions = [Evict(first, urgent, "n1"), Evict(second, urgent, "n1")]
        refusals = await act(carrier, evictions)
        told.extend([[refusal.pod_uid == first.uid for refusal in refusals], list(recorder._waiting)])

    in_lab(scenario)
    refused, notes = told
    assert refused == [True]
    assert [note.message for note, _ in notes if note.reason == "Preempting"] == [
        "Preempting 1 pod of lower priority: default/second"
    ]
