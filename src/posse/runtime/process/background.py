"""Tasks that run as long as the process does. If one ends by itself, the process must end."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


class BackgroundFailed(Exception):  # noqa: N818 - it names what happened
    """A part of the process has stopped working; the message says which and why."""


class Background:
    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []
        self._failure: asyncio.Future[BackgroundFailed] = asyncio.get_running_loop().create_future()

    def start(self, name: str, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(self._note_end)
        self._tasks.append(task)

    async def wait_failed(self) -> BackgroundFailed:
        """Return the first failure once there is one."""
        return await asyncio.shield(self._failure)

    async def stop(self) -> None:
        """Cancel all tasks, last started first, and wait until each has ended."""
        for task in reversed(self._tasks):
            task.cancel()
            await asyncio.wait([task])

    def _note_end(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled() or self._failure.done():
            return
        error = _root(task.exception())
        log.error("%s stopped: %s", task.get_name(), error, exc_info=error)
        why = f"{type(error).__name__}: {error}" if error else "it ended by itself"
        self._failure.set_result(BackgroundFailed(f"{task.get_name()} stopped working ({why})"))


def _root(error: BaseException | None) -> BaseException | None:
    """Return the first real error inside the groups that task groups wrap errors in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
