"""The engine beside the event loop: events come before decisions, and a busy engine holds up nothing else."""

import asyncio
import threading
import time

from posse.engine.decisions import Bind
from posse.engine.engine import Engine
from posse.engine.events import Observed
from posse.engine.options import EngineOptions
from posse.runtime.scheduling import engine_thread
from posse.runtime.scheduling.engine_thread import EngineThread
from posse.runtime.scheduling.scheduler import SchedulerLoop
from tests.support.builders import node, pod


def test_what_is_queued_is_absorbed_before_the_next_decision():
    async def scenario():
        thread = EngineThread(Engine(EngineOptions()), time.time)
        thread.queue(Observed(node("a")))
        thread.queue(Observed(pod("p1")))
        turn = await thread.decide()
        thread.close()
        return turn

    turn = asyncio.run(scenario())
    assert [type(decision) for decision in turn.done.decisions] == [Bind]
    assert not turn.has_work


class FailingEngine(Engine):
    """Cannot read one pod."""

    def absorb(self, event):
        if event.obj.metadata.name == "p1":
            raise RuntimeError("cannot")
        super().absorb(event)


def test_an_object_that_cannot_be_read_is_left_out(caplog):
    async def scenario():
        thread = EngineThread(FailingEngine(EngineOptions()), time.time)
        for obj in (node("a"), pod("p1"), pod("p2")):
            thread.queue(Observed(obj))
        turn = await thread.decide()
        thread.close()
        return turn

    turn = asyncio.run(scenario())
    assert [bind.placements[0].pod.name for bind in turn.done.binds()] == ["p2"]
    assert "Pod test/p1 could not be handled and is left out" in caplog.text


class BusyEngine(Engine):
    """Decides for as long as it is told to."""

    def __init__(self):
        super().__init__(EngineOptions())
        self.may_end, self.is_busy = threading.Event(), threading.Event()

    def decide(self, now):
        self.is_busy.set()
        self.may_end.wait(30)
        return super().decide(now)


def test_a_slow_decision_is_logged_with_its_object(caplog, monkeypatch):
    monkeypatch.setattr(engine_thread, "_SLOW_SECONDS", 0.01)

    async def scenario():
        engine = BusyEngine()
        thread = EngineThread(engine, time.time)
        thread.queue(Observed(node("a")))
        deciding = asyncio.ensure_future(thread.decide())
        while not caplog.records:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)
        engine.may_end.set()
        await deciding
        thread.close()
        assert thread.longest_seconds >= 0.01

    asyncio.run(scenario())
    assert "it reads Node a" in caplog.text


def test_while_the_engine_decides_others_work_and_stopping_does_not_wait(in_lab):
    engine = BusyEngine()

    async def background(lab):
        lab.scheduler = SchedulerLoop(lab.transport, engine, time.time)
        await lab.scheduler.run()

    async def scenario(lab):
        await lab.until(engine.is_busy.is_set)
        page, _ = await lab.scheduler.metrics_page("")
        assert b"posse_longest_stall_seconds" in page
        await lab.scheduler.finish()
        engine.may_end.set()

    in_lab(scenario, background)
