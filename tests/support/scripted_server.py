"""An API server that answers what a test tells it to: errors, half answers, watches that break off."""

from contextlib import asynccontextmanager

from aiohttp import web

from posse.client.connection import Connection
from posse.client.credentials import ClusterAccess


def status(code, reason="", message="", headers=None):
    body = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return web.json_response(body, status=code, headers=headers)


class FixedCredentials:
    """Hands out one token after the other, the last for ever."""

    source = "a test"

    def __init__(self, url, *tokens):
        self.url = url
        self.tokens = list(tokens or ("token",))
        self.loads = 0

    async def load(self):
        self.loads += 1
        token = self.tokens.pop(0) if len(self.tokens) > 1 else self.tokens[0]
        return ClusterAccess(self.url, f"Bearer {token}", None, None, None)


class ScriptedServer:
    """`answers` are taken in turn, the last for ever: a response, or a function of the request that makes one."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.bodies = []
        self.url = ""

    async def handle(self, request):
        self.requests.append(request)
        self.bodies.append(await request.read())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            return await answer(request)
        # A response can be sent once only.
        return web.Response(body=answer.body, status=answer.status, headers=answer.headers)

    @asynccontextmanager
    async def running(self):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()


@asynccontextmanager
async def connected(server, *tokens):
    """A connection to a scripted server that runs meanwhile."""
    async with server.running():
        connection = Connection(FixedCredentials(server.url, *tokens))
        await connection.open()
        try:
            yield connection
        finally:
            await connection.close()


def dropping(*chunks):
    """Begin an answer, and break off in the middle of it."""

    async def answer(request):
        response = web.StreamResponse(headers={"Content-Length": "100000"})
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        request.transport.abort()
        return response

    return answer


def streaming(*chunks):
    """An answer in pieces that ends properly."""

    async def answer(request):
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        return response

    return answer
