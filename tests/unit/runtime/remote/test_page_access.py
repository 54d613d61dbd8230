"""Who may read the pages of a scheduler that others can reach."""

import asyncio
import json

import aiohttp
import pytest
from aiohttp import web

from posse.client.connection import Connection
from posse.runtime.process.run_options import RunOptions
from posse.runtime.remote.page_access import KEPT_SECONDS, Admission, PageAccess
from posse.runtime.remote.probes import build_probes
from posse.runtime.remote.serving import serve_pages
from tests.support.scripted_server import FixedCredentials, ScriptedServer, connected, status

USERS = {"monitor": "prometheus", "tenant": "mallory"}


async def cluster(request):
    """Knows two users by their tokens, one of which may read metrics."""
    review = json.loads(await request.read())
    if review["kind"] == "TokenReview":
        name = USERS.get(review["spec"]["token"])
        known = {"authenticated": True, "user": {"username": name, "groups": ["people"]}}
        return web.json_response({**review, "status": known if name else {"authenticated": False}})
    asked = review["spec"]["nonResourceAttributes"]
    allowed = review["spec"]["user"] == "prometheus" and asked == {"path": "/metrics", "verb": "get"}
    return web.json_response({**review, "status": {"allowed": allowed}})


def admitted(server, *requests, clock=lambda: 0.0):
    async def main():
        async with connected(server) as connection:
            access = PageAccess(connection, clock)
            return [await access.admit(*request) for request in requests]

    return asyncio.run(main())


async def metrics(_accept):
    return b"m", "text/plain"


@pytest.mark.parametrize(
    ("authorization", "path", "expected"),
    [
        ("Bearer monitor", "/metrics", Admission.ALLOWED),
        ("bearer monitor", "/metrics", Admission.ALLOWED),
        ("Bearer monitor", "/configz", Admission.FORBIDDEN),
        ("Bearer tenant", "/metrics", Admission.FORBIDDEN),
        ("Bearer guessed", "/metrics", Admission.UNKNOWN_USER),
        ("Basic monitor", "/metrics", Admission.UNKNOWN_USER),
        ("Bearer ", "/metrics", Admission.UNKNOWN_USER),
        ("Bearer " + "x" * 100_000, "/metrics", Admission.UNKNOWN_USER),
        ("Bearer \udcff", "/metrics", Admission.UNDECIDED),
        ("", "/metrics", Admission.UNKNOWN_USER),
    ],
)
def test_the_cluster_decides(authorization, path, expected):
    assert admitted(ScriptedServer(cluster), (authorization, path)) == [expected]


def test_nobody_is_let_in_while_the_cluster_does_not_say():
    assert admitted(ScriptedServer(status(403)), ("Bearer monitor", "/metrics")) == [Admission.UNDECIDED]


def test_answers_are_kept_for_a_moment():
    server = ScriptedServer(cluster)
    times = iter([0.0, 0.0, KEPT_SECONDS / 2, KEPT_SECONDS + 1, KEPT_SECONDS + 1])
    admitted(server, *3 * [("Bearer monitor", "/metrics")], clock=lambda: next(times))
    assert len(server.requests) == 4, "two reviews at first, none from memory, two again later"


def pages(connection_options, requests):
    """Return what the pages of a process answer that listens for everybody, by (path, token)."""

    async def main():
        async with ScriptedServer(cluster).running() as server:
            connection = Connection(FixedCredentials(server.url))
            await connection.open()

            def build(access):
                return build_probes(dict, dict, metrics, dict, access)

            listener = await serve_pages(build, connection_options, connection)
            try:
                async with aiohttp.ClientSession() as session:
                    return [await fetch(session, listener.url, *request) for request in requests]
            finally:
                await listener.close()
                await connection.close()

    return asyncio.run(main())


async def fetch(session, url, path, token=""):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with session.get(url + path, headers=headers, ssl=False) as answer:
        return answer.status


REQUESTS = [
    ("/healthz",),
    ("/livez",),
    ("/readyz",),
    ("/metrics",),
    ("/configz",),
    ("/metrics", "tenant"),
    ("/metrics", "monitor"),
    ("/configz", "monitor"),
]


def test_what_others_can_reach_is_encrypted_and_asks_for_a_token(monkeypatch):
    monkeypatch.setattr("posse.runtime.remote.serving._is_loopback", lambda _host: False)
    answers = pages(RunOptions(bind_address="127.0.0.1", port=0), REQUESTS)
    assert answers == [200, 200, 200, 401, 401, 403, 200, 403]


def test_on_loopback_everybody_reads_everything():
    answers = pages(RunOptions(bind_address="127.0.0.1", port=0), REQUESTS[:5])
    assert answers == [200] * 5
