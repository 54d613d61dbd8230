import asyncio
import json

import pytest
from aiohttp import web

from posse.client import repeating, watches
from posse.client.watches import Watch, WatchHealth
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import NODE, POD_GROUP
from tests.support.scripted_server import ScriptedServer, connected, dropping, status, streaming


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(repeating, "FIRST_PAUSE_SECONDS", 0.0001)


def line(kind, name, version, **rest):
    metadata = {"name": name, "resourceVersion": str(version)}
    return (
        json.dumps({"type": kind, "object": {"apiVersion": "v1", "metadata": metadata, **rest}}).encode()
        + b"\n"
    )


def watched(server, until, kind=NODE, spoken="v1", health=None):
    """Return what came, as (type, name), and from which versions the server was asked."""
    seen = []

    async def main():
        async with connected(server) as connection:
            watch = Watch(kind, spoken, "/api/v1/nodes", {"labelSelector": "a=b"}, "10")
            async with asyncio.timeout(10):
                async for batch in watch.batches(connection, health or WatchHealth()):
                    seen.extend((event.type, event.obj["metadata"]["name"]) for event in batch)
                    if len(seen) >= until:
                        break

    asyncio.run(main())
    return seen, [request.query["resourceVersion"] for request in server.requests]


def broken(server):
    with pytest.raises(ApiError) as error:
        watched(server, 99)
    return error.value


def test_a_watch_that_ends_goes_on_where_it_was():
    server = ScriptedServer(
        streaming(line("ADDED", "a", 11), line("MODIFIED", "a", 12)), streaming(line("DELETED", "a", 13))
    )
    seen, versions = watched(server, 3)
    assert seen == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    assert versions == ["10", "12"]
    assert server.requests[0].query["labelSelector"] == "a=b"
    assert server.requests[0].query["allowWatchBookmarks"] == "true"


def test_lines_may_come_in_pieces_and_a_half_one_is_asked_for_again():
    first, second = line("ADDED", "a", 11), line("ADDED", "b", 12)
    server = ScriptedServer(dropping(first[:20], first[20:] + second[:30]), streaming(second))
    seen, versions = watched(server, 2)
    assert seen == [("ADDED", "a"), ("ADDED", "b")]
    assert versions == ["10", "11"]


def test_a_bookmark_is_not_told_but_remembered():
    server = ScriptedServer(streaming(line("BOOKMARK", "", 50)), streaming(line("ADDED", "a", 51)))
    assert watched(server, 1) == ([("ADDED", "a")], ["10", "50"])


@pytest.mark.parametrize("code", [429, 500, 503])
def test_trouble_that_passes_is_waited_out(code):
    health = WatchHealth()
    server = ScriptedServer(status(code), status(code), streaming(line("ADDED", "a", 11)))
    assert watched(server, 1, health=health)[0] == [("ADDED", "a")]
    assert health.interruptions == 2


@pytest.mark.parametrize("code", [403, 404, 410])
def test_trouble_that_does_not_pass_ends_it(code):
    assert broken(ScriptedServer(status(code))).code == code


def test_an_error_among_the_changes_ends_it():
    gone = {
        "type": "ERROR",
        "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"},
    }
    error = broken(ScriptedServer(streaming(line("ADDED", "a", 11), json.dumps(gone).encode() + b"\n")))
    assert (error.code, error.reason) == (410, "Expired")


def test_what_cannot_be_read_calls_for_a_list():
    assert broken(ScriptedServer(streaming(b'{"type": "ADDED", "object": {]}\n'))).code == 410


def test_health_tells_whether_it_is_open_and_why_not():
    health = WatchHealth()
    watched(ScriptedServer(streaming(line("ADDED", "a", 11))), 1, health=health)
    assert (health.is_open, health.interruptions, health.last_error) == (False, 0, "")
    with pytest.raises(ApiError):
        watched(ScriptedServer(status(403, "Forbidden", "not you")), 1, health=health)
    assert health.last_error == "not you"


def test_older_versions_are_told_in_the_form_of_the_newest():
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "spec": {"podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}}},
    }
    event = json.loads(line("ADDED", "a", 11))
    event["object"] |= group
    seen = []

    async def main():
        async with connected(ScriptedServer(streaming(json.dumps(event).encode() + b"\n"))) as connection:
            watch = Watch(POD_GROUP, "v1alpha2", "/x", {}, "10")
            async for batch in watch.batches(connection, WatchHealth()):
                seen.extend(batch)
                break

    asyncio.run(main())
    assert seen[0].obj["spec"]["workloadRef"] == {"workloadName": "w", "templateName": "t"}


def test_a_watch_without_bookmarks_is_asked_for_again(monkeypatch):
    """Servers send one every minute: silence for longer may be that of a dead connection."""

    async def silent(request):
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(line("BOOKMARK", "", 20))
        await asyncio.sleep(60)

    monkeypatch.setattr(watches, "QUIET_SECONDS", 0.1)
    health = WatchHealth()
    server = ScriptedServer(silent, streaming(line("ADDED", "a", 21)))
    assert watched(server, 1, health=health) == ([("ADDED", "a")], ["10", "20"])
    assert health.interruptions == 0
