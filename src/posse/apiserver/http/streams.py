"""Watch streams: events of a subscription as lines of JSON, until the client leaves, time is up or the server
stops.

What the stream shows is the subscription's business. Here it is paced: events that are waiting together
travel in one write, bookmarks keep an idle client's version fresh, and a client that reads too slowly is told
to list again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence

from aiohttp import web

from posse.apiserver.committer import Committer
from posse.apiserver.http import parameters
from posse.apiserver.http.answers import CACHE_CONTROL
from posse.apiserver.http.parameters import WatchRequest
from posse.apiserver.http.paths import ResourcePath
from posse.apiserver.http.rendering import View
from posse.apiserver.service import ApiService
from posse.apiserver.watching import Subscription
from posse.kinds.machinery.errors import EXPIRED, ApiError, internal
from posse.store.change_log import StoreEvent

BOOKMARK_SECONDS = 60.0
# A client that sets no limit is made to reconnect now and then, so that nothing is held for ever.
TIMEOUT_SECONDS = 3600.0
EVENTS_PER_WRITE = 500

log = logging.getLogger(__name__)


class WatchStreams:
    """All open watch streams of one server."""

    def __init__(self, service: ApiService, committer: Committer) -> None:
        self._service = service
        self._committer = committer
        self._wakers: set[asyncio.Event] = set()
        self._stopping = False

    def stop(self) -> None:
        """End every stream, and each new one after what it has to say."""
        self._stopping = True
        for waker in self._wakers:
            waker.set()

    async def watch(self, request: web.Request, target: ResourcePath, view: View) -> web.StreamResponse:
        asked = parameters.watch_request(request.rel_url.query)
        try:
            subscription = self._subscribe(request, target, asked)
        except ApiError as error:
            if error.code != EXPIRED:
                raise
            return await _refuse(request, error, view)
        waker = asyncio.Event()
        self._wakers.add(waker)
        try:
            # The stream may begin with objects as they are now, which must be durable before they are shown.
            await self._committer.durable()
            response = await _started(request, view)
            await self._run(_Stream(response, subscription, view, waker), asked)
            await response.write_eof()
        finally:
            self._wakers.discard(waker)
            subscription.close()
        return response

    def _subscribe(self, request: web.Request, target: ResourcePath, asked: WatchRequest) -> Subscription:
        selection = parameters.selection(request.rel_url.query)
        version = int(selection.resource_version or "0") or None
        if asked.initial_events:
            version = None
        elif asked.initial_events is False and version is None:
            version = self._service.store.version
        return self._service.watch(
            target.kind, target.namespace or None, selection, version, bookmarks=asked.bookmarks
        )

    async def _run(self, stream: "_Stream", asked: WatchRequest) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (asked.timeout_seconds or TIMEOUT_SECONDS)
        next_bookmark = loop.time() + BOOKMARK_SECONDS
        while await stream.send_waiting():
            is_over = self._stopping or loop.time() >= deadline
            if is_over or loop.time() >= next_bookmark:
                next_bookmark = loop.time() + BOOKMARK_SECONDS
                if asked.bookmarks:
                    await stream.send([stream.subscription.bookmark()])
            if is_over:
                return
            await stream.wait_until(min(deadline, next_bookmark))


class _Stream:
    """One response being written from one subscription."""

    def __init__(
        self, response: web.StreamResponse, subscription: Subscription, view: View, waker: asyncio.Event
    ) -> None:
        self._response = response
        self.subscription = subscription
        self._view = view
        self._waker = waker
        # The first line of a Table stream carries the column headers, the others would only repeat them.
        self._headers_due = True
        subscription.on_ready(waker.set)

    async def wait_until(self, deadline: float) -> None:
        """Sleep until there is something to send or the time has come."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await self._waker.wait()
        self._waker.clear()

    async def send_waiting(self) -> bool:
        """Send what is waiting; False when the stream cannot go on, which the client has then been told."""
        try:
            events = self.subscription.drain()
            for start in range(0, len(events), EVENTS_PER_WRITE):
                await self.send(events[start : start + EVENTS_PER_WRITE])
        except ApiError as error:
            await self._response.write(self._view.failure_event(error.status))
            return False
        except ConnectionError:
            raise
        except Exception:
            # The answer has begun as a success; all that is left is to say within it that it ends.
            log.exception("a watch of %s failed", self._view.kind.group_resource)
            failure = internal("the watch failed; the server's log says more")
            await self._response.write(self._view.failure_event(failure.status))
            return False
        return True

    async def send(self, events: Sequence[StoreEvent]) -> None:
        await self._response.write(b"".join(map(self._line, events)))

    def _line(self, event: StoreEvent) -> bytes:
        headers, self._headers_due = self._headers_due, False
        return self._view.event(event, headers=headers)


async def _started(request: web.Request, view: View) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": view.stream_type, "Cache-Control": CACHE_CONTROL})
    await response.prepare(request)
    return response


async def _refuse(request: web.Request, error: ApiError, view: View) -> web.StreamResponse:
    """Tell within the stream that it cannot start: clients expect an expired version there."""
    response = await _started(request, view)
    await response.write(view.failure_event(error.status))
    await response.write_eof()
    return response
