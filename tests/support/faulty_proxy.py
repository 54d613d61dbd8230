"""Stands between a client and an API server and spoils things: refuses, loses answers, cuts watches, forgets tokens."""

import asyncio
import random
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from tests.support.scripted_server import status


class FaultyProxy:
    """`share` of all requests go wrong; watches live for `watch_seconds` at most. `token` is the one it takes."""

    def __init__(self, server, seed, share=0.2, watch_seconds=0.3):
        self.server = server
        self.random = random.Random(seed)
        self.share = share
        self.watch_seconds = watch_seconds
        self.token = "first"
        self.faults = dict.fromkeys(("busy", "broken", "lost", "cut", "unknown"), 0)

    async def handle(self, request):
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            self.faults["unknown"] += 1
            return status(401, "Unauthorized")
        fault = self.random.choice(["busy", "broken", "lost"]) if self.random.random() < self.share else ""
        if fault:
            self.faults[fault] += 1
        if fault == "busy":
            return status(429, "TooManyRequests", headers={"Retry-After": "0"})
        if fault == "broken":
            return status(self.random.choice([500, 502, 503]), "InternalError")
        headers = {"Authorization": f"Bearer {self.server.token}", **_kept(request.headers)}
        body = await request.read()
        url = self.server.url + request.raw_path
        async with self.session.request(request.method, url, data=body or None, headers=headers) as answer:
            if "watch" in request.query:
                return await self._cut(request, answer)
            text = await answer.read()
        if fault == "lost":
            # It was done, and the client does not learn it.
            request.transport.abort()
        return web.Response(body=text, status=answer.status, content_type=answer.content_type)

    async def _cut(self, request, answer):
        response = web.StreamResponse(status=answer.status)
        await response.prepare(request)
        try:
            async with asyncio.timeout(self.watch_seconds * self.random.random()):
                async for chunk in answer.content.iter_any():
                    # Half of it, sometimes.
                    half = len(chunk) // 2 if self.random.random() < self.share else len(chunk)
                    await response.write(chunk[:half])
                    if half < len(chunk):
                        break
        except TimeoutError:
            pass
        self.faults["cut"] += 1
        request.transport.abort()
        return response

    @asynccontextmanager
    async def running(self):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        connector = aiohttp.TCPConnector(ssl=self.server.client_context())
        async with aiohttp.ClientSession(connector=connector) as self.session:
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            try:
                yield self
            finally:
                await runner.cleanup()


def _kept(headers):
    return {name: headers[name] for name in ("Content-Type", "Accept") if name in headers}
