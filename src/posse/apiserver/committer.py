"""Group commit: writes made while one commit runs are made durable together by the next.

Every write starts a commit, so that none depends on its author waiting for it: one that was refused half-way,
or whose client has left, has written all the same. Runs on the event loop; the commits themselves run in one
worker thread, so that a slow disk never stops the loop.
"""

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from posse.kinds.machinery.errors import internal
from posse.store.errors import CommitFailed
from posse.store.objects import Json
from posse.store.store import Store


class Committer:
    """`failure` is set once writes cannot be made durable any more; the process should then end."""

    def __init__(self, store: Store) -> None:
        self.failure: CommitFailed | None = None
        self._store = store
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="posse-commit")
        self._running: asyncio.Task[None] | None = None
        self._failed = asyncio.Event()
        # Who waits for which version. Versions of writes only grow, so the first is the first to be served.
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        store.on_pending(self._start)

    async def durable(self, obj: Json | None = None) -> None:
        """Wait until all that was written before this call is durable; ApiError (500) when it cannot be.

        With an object, wait only until its version is: what was written to others meanwhile does not matter.
        """
        version = self._store.version if obj is None else int(obj["metadata"]["resourceVersion"])
        if version <= self._store.durable_version:
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append((version, waiter))
        self._start()
        await waiter

    async def wait_failed(self) -> CommitFailed:
        """Return the failure once there is one."""
        await self._failed.wait()
        if self.failure is None:
            raise ValueError("the committer has not failed")
        return self.failure

    async def close(self) -> None:
        """Commit what is pending and stop the worker."""
        try:
            if self.failure is None:
                await self.durable()
        finally:
            self._store.on_pending(None)
            self._worker.shutdown()

    def _start(self) -> None:
        if self._running is None:
            self._running = asyncio.create_task(self._commit_all())

    async def _commit_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._store.durable_version < self._store.version:
                await loop.run_in_executor(self._worker, self._store.commit_pending)
                self._store.publish_committed()
                self._release()
        except CommitFailed as failure:
            self._give_up(failure)
        finally:
            self._running = None

    def _release(self) -> None:
        durable = self._store.durable_version
        while self._waiting and self._waiting[0][0] <= durable:
            _, waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)

    def _give_up(self, failure: CommitFailed) -> None:
        self.failure = failure
        self._failed.set()
        for _, waiter in self._waiting:
            if not waiter.done():
                waiter.set_exception(internal(str(failure)))
        self._waiting.clear()
