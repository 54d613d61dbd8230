import asyncio
import os
import signal

import pytest

from posse.runtime.process.stopping import on_stop_signal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_is_obeyed_at_once(monkeypatch, number):
    asked, left = [], []
    monkeypatch.setattr(os, "_exit", left.append)

    async def main():
        on_stop_signal(lambda: asked.append(True))
        os.kill(os.getpid(), number)
        await asyncio.sleep(0.01)
        assert (asked, left) == ([True], [])
        os.kill(os.getpid(), number)
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert left == [128 + number]
