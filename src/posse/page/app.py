"""The application behind the page: its files, live data as server-sent events, and answers to questions."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from importlib.resources import files

import msgspec
from aiohttp import web

from posse.page.feed import LiveFeed
from posse.page.guard import DATA_PREFIX, HEADERS, LOOPBACK_NAMES, Admit, authorization_of, guarding
from posse.runtime.remote.page_access import Admission

HEARTBEAT_SECONDS = 15.0
SLOW_SECONDS = 20.0
"""A page that takes longer to read a change is dropped; it connects again if it is still there."""
MAX_STREAMS = 200
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}

Arguments = Mapping[str, str]


class QuestionRefused(Exception):  # noqa: N818 - it names what happened
    """The question cannot be answered; the message says why and what to do."""


Answer = Callable[[str, Arguments], Awaitable[object]]
"""Given a question and its arguments. QuestionRefused: there is no answer."""


def build_page(
    feed: LiveFeed, answer: Answer, admit: Admit, hosts: Collection[str] = LOOPBACK_NAMES
) -> web.Application:
    page = _Page(feed, answer, admit)
    app = web.Application(middlewares=[guarding(admit, hosts)])
    app.router.add_get("/", page.index, allow_head=False)
    app.router.add_get("/static/{name}", page.static, allow_head=False)
    app.router.add_get(f"{DATA_PREFIX}events", page.events, allow_head=False)
    app.router.add_get(f"{DATA_PREFIX}{{question}}", page.question, allow_head=False)
    app.on_shutdown.append(page.end_streams)
    return app


class _Page:
    def __init__(self, feed: LiveFeed, answer: Answer, admit: Admit) -> None:
        self._feed = feed
        self._answer = answer
        self._admit = admit
        self._files = static_files()
        self._streams: set[asyncio.Task[None]] = set()

    async def index(self, _request: web.Request) -> web.Response:
        return self._file("index.html")

    async def static(self, request: web.Request) -> web.Response:
        return self._file(request.match_info["name"])

    def _file(self, name: str) -> web.Response:
        if name not in self._files:
            return web.Response(text="there is no such file\n", status=404)
        content_type = TYPES[name[name.rindex(".") :]]
        return web.Response(body=self._files[name], content_type=content_type, charset="utf-8")

    async def question(self, request: web.Request) -> web.Response:
        try:
            found = await self._answer(request.match_info["question"], request.query)
        except QuestionRefused as refusal:
            return web.json_response({"error": str(refusal)}, status=422)
        return web.Response(body=msgspec.json.encode(found), content_type="application/json")

    async def events(self, request: web.Request) -> web.StreamResponse:
        if len(self._streams) >= MAX_STREAMS:
            return web.Response(text="too many pages are open\n", status=503)
        response = web.StreamResponse(headers=HEADERS | {"Content-Type": "text/event-stream"})
        await response.prepare(request)
        # A task of its own, so that the stream can be ended without ending the request's own task.
        sending = asyncio.ensure_future(self._send(response, authorization_of(request)))
        self._streams.add(sending)
        try:
            with contextlib.suppress(asyncio.CancelledError, ConnectionError, TimeoutError):
                await sending
        finally:
            self._streams.discard(sending)
            sending.cancel()
        if request.transport is not None:
            # A page that does not read would hold up a polite end.
            request.transport.abort()
        return response

    async def _send(self, response: web.StreamResponse, authorization: str) -> None:
        """Send changes for as long as the token is good."""
        seen = 0
        while True:
            text = b": still here\n\n"
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._feed.newer_than(seen)
                text, seen = self._feed.since(seen), self._feed.version
            if await self._admit(authorization) is not Admission.ALLOWED:
                return
            async with asyncio.timeout(SLOW_SECONDS):
                await response.write(text)

    async def end_streams(self, _app: web.Application) -> None:
        for sending in self._streams:
            sending.cancel()


def static_files() -> dict[str, bytes]:
    folder = files("posse.page") / "static"
    return {
        one.name: one.read_bytes()
        for one in folder.iterdir()
        if one.is_file() and one.name.endswith((*TYPES,))
    }
