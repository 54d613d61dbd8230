"""The application of the page: only GET, only under its own name, only with its token, and nothing inline."""

import asyncio
import re
from contextlib import asynccontextmanager

import aiohttp
import pytest

from posse.apiserver.http.server import serve
from posse.page import app as page_app
from posse.page.app import QuestionRefused, build_page, static_files
from posse.page.feed import LiveFeed
from posse.page.guard import admitting
from posse.runtime.remote.page_access import Admission

TOKEN = "a-token-for-tests-only"
WITH_TOKEN = {"Authorization": f"Bearer {TOKEN}"}


async def answer(question, arguments):
    if question == "odd":
        raise QuestionRefused("<b>that</b> makes no sense")
    return {"question": question, **arguments}


@asynccontextmanager
async def serving(feed=None, admit=None):
    page = build_page(feed or LiveFeed(), answer, admit or admitting(TOKEN))
    listener = await serve(page, "127.0.0.1", 0, None)
    try:
        yield listener.url
    finally:
        await listener.close()


def asked(path, method="GET", **headers):
    async def ask():
        async with (
            serving() as url,
            aiohttp.ClientSession() as session,
            session.request(method, url + path, headers=headers) as found,
        ):
            return found.status, await found.text(), found.headers

    return asyncio.run(ask())


def test_the_page_and_its_files_need_no_token_and_may_do_little():
    status, text, headers = asked("/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "/static/main.js" in text
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "Access-Control-Allow-Origin" not in headers


def test_nothing_in_the_files_is_inline_or_from_elsewhere():
    files = static_files()
    index = files["index.html"].decode()
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|style=", index)
    for name, body in files.items():
        text = body.decode()
        assert "innerHTML" not in text, name
        assert "http://" not in text.replace("http://www.w3.org", ""), name
        assert "https://" not in text, name


def test_every_file_that_is_imported_is_there():
    files = static_files()
    wanted = {
        name
        for body in files.values()
        for name in re.findall(r'(?:from "\./|"/static/)([a-z_]+\.[a-z]+)"', body.decode())
    }
    assert wanted <= set(files)
    assert {"main.js", "page.css", "map.js"} <= wanted


@pytest.mark.parametrize("path", ["/static/app.py", "/static/..%2fapp.py", "/static/nothing.js", "/nothing"])
def test_other_files_are_not_served(path):
    assert asked(path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
def test_only_get_is_answered(method):
    assert asked("/api/gang", method, **WITH_TOKEN)[0] == 405


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}]
)
def test_data_needs_the_token(headers):
    for path in ("/api/gang", "/api/events", f"/api/gang?token={TOKEN}"):
        status, text, _ = asked(path, **headers)
        assert (status, "address that Posse printed" in text) == (401, True)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example:1", ""])
def test_foreign_names_are_refused(host):
    assert asked("/", Host=host)[0] == 421


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:3"])
def test_names_of_this_machine_are_its_own(host):
    assert asked("/", Host=host)[0] == 200


def test_other_sites_are_refused():
    assert asked("/api/gang", **WITH_TOKEN, **{"Sec-Fetch-Site": "cross-site"})[0] == 403


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:1", 200),
        ("http://evil.example", 403),
        ("http://[", 403),
        ("null", 403),
        ("http://localhost:2", 403),
    ],
)
def test_pages_of_other_origins_are_refused(origin, status):
    assert asked("/api/gang?id=a", Host="localhost:1", Origin=origin, **WITH_TOKEN)[0] == status


def test_questions_get_their_arguments_and_refusals_their_reason():
    status, text, _ = asked("/api/gang?id=a", **WITH_TOKEN)
    assert (status, text) == (200, '{"question":"gang","id":"a"}')
    status, text, headers = asked("/api/odd", **WITH_TOKEN)
    assert (status, "makes no sense" in text, headers["Content-Type"].partition(";")[0]) == (
        422,
        True,
        "application/json",
    )


def test_the_stream_ends_when_its_token_is_no_longer_good():
    good = [Admission.ALLOWED]

    async def admit(_authorization):
        return good[-1]

    async def read():
        feed = LiveFeed()
        feed.publish({"nodes": {"a": 1}})
        async with (
            serving(feed, admit) as url,
            aiohttp.ClientSession() as session,
            session.get(f"{url}/api/events") as stream,
        ):
            await stream.content.readuntil(b"\n\n")
            good.append(Admission.FORBIDDEN)
            feed.publish({"nodes": {"a": 2}})
            with pytest.raises(aiohttp.ClientPayloadError):
                await stream.content.read()
            async with session.get(f"{url}/api/events") as again:
                return again.status, await again.text()

    status, text = asyncio.run(read())
    assert (status, "may not see the page" in text) == (403, True)


def test_changes_reach_an_open_page():
    async def read():
        feed = LiveFeed()
        feed.publish({"nodes": {"a": 1}})
        async with (
            serving(feed) as url,
            aiohttp.ClientSession() as session,
            session.get(f"{url}/api/events", headers=WITH_TOKEN) as stream,
        ):
            first = await stream.content.readuntil(b"\n\n")
            feed.publish({"nodes": {"a": 2}})
            return stream.headers["Content-Type"], first, await stream.content.readuntil(b"\n\n")

    content_type, first, second = asyncio.run(read())
    assert content_type == "text/event-stream"
    assert first == b'event: whole\nid: 1\ndata: {"nodes":{"a":1}}\n\n'
    assert second == b'event: change\nid: 2\ndata: {"nodes":{"a":2}}\n\n'


def test_a_page_that_does_not_read_is_dropped(monkeypatch):
    """Only one stream is allowed here, so the second page gets one when the first is dropped."""
    monkeypatch.setattr(page_app, "SLOW_SECONDS", 0.05)
    monkeypatch.setattr(page_app, "MAX_STREAMS", 1)

    async def status(session, url):
        async with session.get(f"{url}/api/events", headers=WITH_TOKEN) as stream:
            return stream.status

    async def replaced():
        feed = LiveFeed()
        feed.publish({"nodes": {str(number): "x" * 1000 for number in range(20_000)}})
        async with serving(feed) as url, aiohttp.ClientSession() as session:
            host, port = url.removeprefix("http://").split(":")
            _, writer = await asyncio.open_connection(host, int(port), limit=1024)
            request = f"GET /api/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
            writer.write(request.encode())
            while await status(session, url) == 200:  # noqa: ASYNC110 - the server decides
                await asyncio.sleep(0.01)
            while await status(session, url) != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            writer.close()

    asyncio.run(asyncio.wait_for(replaced(), 30))


def test_open_pages_do_not_hold_up_the_end():
    async def ended():
        feed = LiveFeed()
        feed.publish({"nodes": {}})
        async with aiohttp.ClientSession() as session:
            async with serving(feed) as url:
                stream = await session.get(f"{url}/api/events", headers=WITH_TOKEN)
                await stream.content.readuntil(b"\n\n")
            stream.close()

    asyncio.run(asyncio.wait_for(ended(), 20))
