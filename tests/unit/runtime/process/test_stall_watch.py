"""Stalls of the event loop are measured and logged with their cause."""

import asyncio
import sys
import time

from posse.runtime.process import stall_watch
from posse.runtime.process.stall_watch import StallWatch, cause_of


class Request:
    method, path = "PATCH", "/api/v1/namespaces/default/pods/p"


def test_a_stall_is_counted_and_its_cause_logged(caplog, monkeypatch):
    monkeypatch.setattr(stall_watch, "_LONG_SECONDS", 0.05)
    late = []

    async def scenario():
        watching = asyncio.create_task(StallWatch(late.append).run())
        # A busy machine may stall the loop before, which is logged once for that beat and names no request.
        for _ in range(20):
            await asyncio.sleep(0.1)
            _answer(Request())
        watching.cancel()
        await asyncio.wait([watching])

    def _answer(request):
        until = time.monotonic() + 1
        while time.monotonic() < until and "PATCH" not in caplog.text:
            assert request

    asyncio.run(scenario())
    assert max(late) > 0
    assert "PATCH /api/v1/namespaces/default/pods/p" in caplog.text


def test_the_cause_names_the_outermost_request():
    def outer(request):
        return inner("object", request)

    def inner(key, _said):
        return cause_of(sys._getframe())

    assert outer(Request()).startswith("PATCH /api")
    assert cause_of(None) == ""
