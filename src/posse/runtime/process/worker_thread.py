"""A thread for long calculations, so that the event loop goes on meanwhile. Calls are made one after another.

A caller first waits without giving way: nearly all calls end within that time, and two threads that run
Python at once slow each other down. A longer call goes on in its thread, beside the event loop.
"""

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_GRACE_SECONDS = 0.005
"""For which a call may hold up the event loop."""
_SWITCH_SECONDS = 0.001
"""For which a thread that calculates may keep others waiting."""


class WorkerThread:
    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: SimpleQueue[_Call[Any] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def call(self, work: Callable[[], T]) -> T:
        """Return what the work returns, or raise what it raises."""
        if self._thread is None:
            sys.setswitchinterval(_SWITCH_SECONDS)
            # The process need not wait for it to end.
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        call = _Call(work)
        self._calls.put(call)
        if not call.wait(_GRACE_SECONDS):
            await call.wait_aside()
        return call.result()

    def close(self) -> None:
        """End the thread after the call that is under way, whose result is not needed."""
        self._calls.put(None)
        self._thread = None

    def _run(self) -> None:
        calls = self._calls
        while (call := calls.get()) is not None:
            call.run()


class _Call(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] | None = None
        """There is one once the caller waits in the event loop."""
        self._is_done = threading.Lock()
        self._is_done.acquire()
        self._result: T
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the call was made
            self._error = error
        self._is_done.release()
        if self._done is not None:
            # The event loop may be closed by now, and no caller waits.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake, self._done)

    def wait(self, seconds: float) -> bool:
        """Wait without giving way; returns whether it is done."""
        return self._is_done.acquire(timeout=seconds)

    async def wait_aside(self) -> None:
        self._done = self._loop.create_future()
        # It may have ended just before there was something to set.
        if not self._is_done.acquire(blocking=False):
            await self._done

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result

    @staticmethod
    def _wake(done: "asyncio.Future[None]") -> None:
        if not done.done():
            done.set_result(None)
