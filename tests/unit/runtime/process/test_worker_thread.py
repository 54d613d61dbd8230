"""Calls in a thread of their own: short ones are waited for, long ones do not hold up the event loop."""

import asyncio
import threading

import pytest

from posse.runtime.process.worker_thread import WorkerThread


def test_calls_return_and_raise_what_the_work_does():
    async def scenario():
        thread = WorkerThread("t")
        assert await thread.call(lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await thread.call(lambda: 1 // 0)
        assert await thread.call(threading.current_thread) is await thread.call(threading.current_thread)
        thread.close()

    asyncio.run(scenario())


def test_the_event_loop_goes_on_during_a_long_call():
    async def scenario():
        thread, may_end = WorkerThread("t"), threading.Event()
        call = asyncio.ensure_future(thread.call(lambda: may_end.wait(30)))
        await asyncio.sleep(0.01)
        assert not call.done()
        may_end.set()
        assert await call
        thread.close()

    asyncio.run(scenario())


def test_a_call_that_nobody_waits_for_any_more_harms_nobody():
    async def scenario():
        thread, may_end = WorkerThread("t"), threading.Event()
        call = asyncio.ensure_future(thread.call(lambda: may_end.wait(30)))
        await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.wait([call])
        may_end.set()
        assert await thread.call(lambda: "next") == "next"
        thread.close()

    asyncio.run(scenario())


def test_calls_are_made_in_order():
    async def scenario():
        thread, made = WorkerThread("t"), []
        await asyncio.gather(*(thread.call(lambda n=n: made.append(n)) for n in range(100)))
        thread.close()
        return made

    assert asyncio.run(scenario()) == list(range(100))
