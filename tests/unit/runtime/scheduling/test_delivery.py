import asyncio

import pytest

from posse.engine.decisions import Bind, Placement, ReportPod
from posse.engine.events import BindRefused, ReportFailed
from posse.engine.keys import PodRef
from posse.engine.state.invariants import InvariantBroken
from posse.runtime.scheduling import delivery
from posse.runtime.scheduling.delivery import Delivery
from posse.runtime.scheduling.observers import Round


def pod(name):
    return PodRef("default", name, f"uid-{name}")


def binding(*names):
    return Round(0.0, 0.0, [Bind(tuple(Placement(pod(name), "n1") for name in names))], ())


def telling(name):
    return Round(0.0, 0.0, [ReportPod(pod(name), "Unschedulable", "no room")], ())


class ScriptedCarrier:
    """Notes what it is asked to do; telling takes until it is allowed, and acting upon the slow ones for ever."""

    def __init__(self, refusals=(), lost=(), slow=()):
        self.log = []
        self.telling = []
        self.acting = 0
        self.most_at_once = 0
        self.may_tell = asyncio.Event()
        self.refusals, self.lost, self.slow = refusals, lost, slow

    async def act(self, done, writes):
        self.acting += 1
        self.most_at_once = max(self.most_at_once, self.acting)
        if _name(done) in self.slow:
            await asyncio.Event().wait()
        for _ in range(5):
            await asyncio.sleep(0)
        self.acting -= 1
        self.log.append(("acted", _name(done)))
        return list(self.refusals)

    async def report(self, writes, setbacks):
        name = _subject(writes)
        self.telling.append(name)
        await self.may_tell.wait()
        self.log.append(("told", name))
        return list(self.lost)


def _name(done):
    decision = done.decisions[0]
    return decision.placements[0].pod.name if isinstance(decision, Bind) else decision.pod.name


def _subject(writes):
    (uid, *_) = (*writes.bound_pods(), *writes.subjects())
    return uid.removeprefix("uid-")


def delivered(scenario, **script):
    async def main():
        carrier, absorbed = ScriptedCarrier(**script), []
        parts = Delivery(carrier, absorbed.append)
        task = asyncio.create_task(parts.run())
        async with asyncio.timeout(5):
            await scenario(parts, carrier)
        task.cancel()
        return carrier, absorbed

    return asyncio.run(main())


async def until(condition):
    while True:
        if condition():
            return
        await asyncio.sleep(0)


async def settled():
    for _ in range(20):
        await asyncio.sleep(0)


def test_rounds_are_acted_upon_together():
    async def scenario(parts, carrier):
        for name in "abc":
            await parts.put(binding(name))
        carrier.may_tell.set()
        await parts.finish()

    carrier, _ = delivered(scenario)
    assert carrier.most_at_once == 3
    assert sorted(carrier.log) == sorted((what, name) for what in ("acted", "told") for name in "abc")


def test_a_slow_answer_holds_up_nobody_else():
    async def scenario(parts, carrier):
        carrier.may_tell.set()
        await parts.put(binding("slow"))
        for number in range(200):
            await parts.put(telling(f"waits-{number}"))
            await parts.put(binding(f"bound-{number}"))
        await parts.put(binding(*(f"large-{number}" for number in range(600))))
        await until(lambda: len(carrier.log) == 2 * 401)

    carrier, _ = delivered(scenario, slow=["slow"])
    assert "slow" not in {name for _, name in carrier.log}


def test_acting_does_not_wait_for_telling():
    async def scenario(parts, carrier):
        await parts.put(telling("a"))
        await settled()
        await parts.put(binding("b"))
        await settled()
        assert carrier.log == [("acted", "a"), ("acted", "b")]
        carrier.may_tell.set()
        await parts.finish()

    delivered(scenario)


def test_a_pod_is_bound_after_it_was_told_that_it_waits():
    async def scenario(parts, carrier):
        await parts.put(telling("a"))
        await settled()
        await parts.put(binding("a"))
        await settled()
        assert carrier.log == [("acted", "a")]
        carrier.may_tell.set()
        await parts.finish()
        assert carrier.log == [("acted", "a"), ("told", "a"), ("acted", "a"), ("told", "a")]

    delivered(scenario)


def test_what_is_told_of_the_same_pod_is_told_one_after_the_other():
    async def scenario(parts, carrier):
        for name in "aab":
            await parts.put(telling(name))
        await settled()
        assert carrier.telling == ["a", "b"]
        carrier.may_tell.set()
        await parts.finish()

    carrier, _ = delivered(scenario)
    assert sorted(name for what, name in carrier.log if what == "told") == ["a", "a", "b"]


def test_what_is_told_of_a_pod_waits_for_what_was_decided_of_it_before():
    async def scenario(parts, carrier):
        carrier.may_tell.set()
        await parts.put(telling("slow"))
        await parts.put(telling("slow"))
        await parts.put(binding("slow"))
        await settled()

    carrier, _ = delivered(scenario, slow=["slow"])
    assert (carrier.telling, carrier.acting) == ([], 2)


def test_only_so_many_bindings_are_on_their_way_and_a_large_round_waits_for_half_the_room(monkeypatch):
    monkeypatch.setattr(delivery, "_MAX_BINDINGS", 4)

    async def scenario(parts, carrier):
        carrier.may_tell.set()
        for name in ("a", "b", "c"):
            await parts.put(binding(f"{name}1", f"{name}2"))
        await parts.put(binding(*(f"d{number}" for number in range(9))))
        await parts.finish()

    carrier, _ = delivered(scenario)
    assert carrier.most_at_once == 2
    assert len(carrier.log) == 8


def test_a_broken_carrier_is_not_overlooked():
    class Broken(ScriptedCarrier):
        async def act(self, done, writes):
            raise RuntimeError("the store is full")

    async def main():
        parts = Delivery(Broken(), lambda event: None)
        acting = asyncio.create_task(parts.run())
        await parts.put(binding("a"))
        async with asyncio.timeout(5):
            await acting

    with pytest.raises(ExceptionGroup) as error:
        asyncio.run(main())
    assert "the store is full" in str(error.value.exceptions[0])


def test_refusals_and_what_was_lost_come_back(monkeypatch):
    monkeypatch.setattr(delivery, "_REPORT_AGAIN_SECONDS", 0.0)

    async def scenario(parts, carrier):
        carrier.may_tell.set()
        await parts.put(binding("a"))
        await parts.finish()
        await asyncio.sleep(0.01)

    refusal, lost = BindRefused("uid-a", "n1", "no"), ReportFailed("uid-a")
    _, absorbed = delivered(scenario, refusals=[refusal], lost=[lost])
    assert absorbed == [refusal, lost]


def test_an_invariant_that_breaks_over_a_lost_report_is_not_overlooked(monkeypatch):
    monkeypatch.setattr(delivery, "_REPORT_AGAIN_SECONDS", 0.0)

    def absorb(event):
        raise InvariantBroken(f"cannot take {event}")

    async def main():
        carrier = ScriptedCarrier(lost=[ReportFailed("uid-a")])
        carrier.may_tell.set()
        parts = Delivery(carrier, absorb)
        running = asyncio.create_task(parts.run())
        await parts.put(telling("a"))
        async with asyncio.timeout(5):
            await running

    with pytest.raises(ExceptionGroup) as error:
        asyncio.run(main())
    assert isinstance(error.value.exceptions[0], InvariantBroken)


def test_a_round_may_speak_of_the_same_pod_twice():
    async def scenario(parts, carrier):
        carrier.may_tell.set()
        twice = [ReportPod(pod("p1"), "Unschedulable", text) for text in ("no room", "room is made")]
        await parts.put(Round(0.0, 0.0, twice, ()))
        await parts.put(telling("p1"))
        await parts.finish()

    carrier, _ = delivered(scenario)
    assert [name for what, name in carrier.log if what == "told"] == ["p1", "p1"]
