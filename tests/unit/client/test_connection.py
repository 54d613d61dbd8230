import asyncio

import aiohttp
import pytest
import yaml
from aiohttp import web

from posse.client import connection as connections
from posse.client.connection import Call, Connection
from posse.client.credentials import CredentialsError, Kubeconfig
from posse.client.http_connections import Patience
from posse.kinds.machinery.errors import ApiError
from tests.support.live_server import running_server
from tests.support.scripted_server import FixedCredentials, ScriptedServer, connected, dropping, status

HERE = Call("GET", "/api/v1/pods", {"limit": "5"})


def asked(server, *tokens, call=HERE):
    async def main():
        async with connected(server, *tokens) as connection:
            return await connection.ask(call)

    return asyncio.run(main())


def refused(server, *tokens):
    with pytest.raises(ApiError) as error:
        asked(server, *tokens)
    return error.value


def test_a_request_carries_who_we_are_and_what_we_send():
    server = ScriptedServer(web.Response(body=b"{}"))
    assert asked(server, call=Call("PATCH", "/x", None, b"[]", "application/json-patch+json")) == b"{}"
    (request,) = server.requests
    assert request.headers["Authorization"] == "Bearer token"
    assert request.headers["Content-Type"] == "application/json-patch+json"
    assert request.headers["User-Agent"].startswith("posse/")
    assert server.bodies == [b"[]"]


def test_credentials_that_were_exchanged_are_read_anew():
    async def choosy(request):
        known = request.headers["Authorization"] == "Bearer new"
        return web.Response(body=b"welcome") if known else status(401, "Unauthorized")

    server = ScriptedServer(choosy)
    assert asked(server, "old", "new") == b"welcome"
    assert len(server.requests) == 2


def test_many_requests_that_are_refused_at_once_read_the_credentials_once():
    async def choosy(request):
        known = request.headers["Authorization"] == "Bearer new"
        return web.Response() if known else status(401, "Unauthorized")

    async def main():
        async with ScriptedServer(choosy).running() as server:
            credentials = FixedCredentials(server.url, "old", "new")
            connection = Connection(credentials)
            await connection.open()
            await asyncio.gather(*(connection.ask(HERE) for _ in range(10)))
            await connection.close()
            return credentials.loads

    assert asyncio.run(main()) == 2


def test_one_whom_the_server_never_knows_is_refused():
    error = refused(ScriptedServer(status(401, "Unauthorized", "who?")))
    assert error.code == 401
    assert error.message.startswith("http://127.0.0.1:")
    assert error.message.endswith(" rejected the credentials in a test (401)")


def test_credentials_that_cannot_be_read_any_more_are_told():
    class Spoilt(FixedCredentials):
        async def load(self):
            if self.loads:
                raise CredentialsError("the file is gone")
            return await super().load()

    async def main():
        async with ScriptedServer(status(401, "Unauthorized")).running() as server:
            connection = Connection(Spoilt(server.url))
            await connection.open()
            try:
                await connection.ask(HERE)
            finally:
                await connection.close()

    with pytest.raises(ApiError, match="the file is gone"):
        asyncio.run(main())


def test_a_refusal_is_what_the_server_says():
    error = refused(ScriptedServer(status(429, "TooManyRequests", "slow down", {"Retry-After": "7"})))
    assert (error.code, error.reason, error.message, error.retry_after) == (
        429,
        "TooManyRequests",
        "slow down",
        7.0,
    )


@pytest.mark.parametrize("when", ["Monday", "\N{SUPERSCRIPT TWO}"])
@pytest.mark.parametrize("body", ["<html>bad gateway</html>", "[]", ""])
def test_what_stands_before_a_server_need_not_speak_its_language(body, when):
    error = refused(ScriptedServer(web.Response(text=body, status=502, headers={"Retry-After": when})))
    assert (error.code, error.retry_after) == (502, 0.0)


def test_half_an_answer_is_none():
    error = refused(ScriptedServer(dropping(b'{"items": [')))
    assert (error.code, error.reason) == (503, "Unreachable")


def test_a_server_that_is_not_there_is_told_by_its_address():
    async def main():
        connection = Connection(FixedCredentials("http://127.0.0.1:9"))
        await connection.open()
        try:
            await connection.ask(HERE)
        finally:
            await connection.close()

    with pytest.raises(ApiError, match=r"cannot talk to http://127\.0\.0\.1:9") as error:
        asyncio.run(main())
    assert error.value.code == 503


def test_a_stream_that_does_not_begin_is_not_waited_for_longer_than_any_answer(monkeypatch):
    async def silent(request):
        await asyncio.sleep(60)

    async def main():
        async with (
            connected(ScriptedServer(silent)) as connection,
            asyncio.timeout(10),
            connection.stream(HERE, quiet_seconds=300),
        ):
            pass

    monkeypatch.setattr(connections, "BEGIN_SECONDS", 0.05)
    with pytest.raises(ApiError) as error:
        asyncio.run(main())
    assert error.value.reason == "Unreachable"


def test_a_refused_stream_is_a_refusal_and_new_credentials_are_tried_first():
    async def choosy(request):
        return status(403 if request.headers["Authorization"] == "Bearer new" else 401, "No", "not you")

    async def main():
        async with (
            connected(ScriptedServer(choosy), "old", "new") as connection,
            connection.stream(HERE, quiet_seconds=5),
        ):
            pass

    with pytest.raises(ApiError, match="not you") as error:
        asyncio.run(main())
    assert error.value.code == 403


def test_a_silent_connection_makes_silent_watches_start_over(monkeypatch):
    """After a silent fault of the network, what has said nothing since is as dead as what was asked."""
    release = asyncio.Event

    async def serve(request):
        if "watch" in request.query:
            response = web.StreamResponse()
            await response.prepare(request)
            await release.wait()
            return response
        served.append(request)
        if len(served) == 2:
            await release.wait()
        return web.Response(body=b"here")

    async def main():
        nonlocal release
        release = asyncio.Event()
        async with connected(ScriptedServer(serve)) as connection, asyncio.timeout(10):
            await connection.ask(HERE)
            async with connection.stream(Call("GET", "/x", {"watch": "1"}), 300) as stream:
                answer = await connection.ask(HERE)
                with pytest.raises(aiohttp.ClientError):
                    await anext(stream.lines())
                raised.append(answer)
                release.set()

    served, raised = [], []
    monkeypatch.setattr(connections, "PATIENCE", Patience(read_silence=0.05))
    asyncio.run(main())
    assert raised == [b"here"]


def test_a_quiet_stream_ends_without_an_error():
    async def quiet(request):
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"one\n")
        await asyncio.sleep(5)

    async def main():
        async with (
            connected(ScriptedServer(quiet)) as connection,
            connection.stream(HERE, quiet_seconds=0.1) as stream,
        ):
            return [lines async for lines in stream.lines()]

    assert asyncio.run(main()) == [[b"one"]]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


def with_authority(server, folder):
    """A kubeconfig that names a file for the authority, in which another one is found first."""
    with running_server(folder / "other") as other:
        (folder / "authority.pem").write_bytes(other.certificates.authority_pem)
    cluster = {"server": server.url, "certificate-authority": str(folder / "authority.pem")}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": server.token}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))
    return Kubeconfig(str(folder / "kubeconfig"), None)


async def stream_some(connection):
    call = Call("GET", "/api/v1/pods", {"watch": "1", "timeoutSeconds": "1"})
    async with connection.stream(call, quiet_seconds=5):
        pass


@pytest.mark.parametrize("asking", [lambda connection: connection.ask(HERE), stream_some])
def test_an_authority_that_was_exchanged_is_read_anew(server, tmp_path, asking, monkeypatch):
    monkeypatch.setattr(connections, "READ_AGAIN_SECONDS", 0.0)
    credentials = with_authority(server, tmp_path)

    async def main():
        connection = Connection(credentials)
        await connection.open()
        try:
            with pytest.raises(ApiError, match="certificate verify failed") as error:
                await asking(connection)
            assert "object at" not in str(error.value)
            (tmp_path / "authority.pem").write_bytes(server.certificates.authority_pem)
            await asking(connection)
        finally:
            await connection.close()

    asyncio.run(main())


@pytest.mark.parametrize("asking", [lambda connection: connection.ask(HERE), stream_some])
def test_what_keeps_us_from_a_server_is_remembered_until_it_answers(asking):
    async def main():
        async with ScriptedServer(web.Response(body=b"{}")).running() as server:
            credentials = FixedCredentials(server.url)
            connection = Connection(credentials)
            await connection.open()
            assert not connection.trouble
            server_url, credentials.url = credentials.url, "http://127.0.0.1:9"
            connection._use(await credentials.load())
            with pytest.raises(ApiError):
                await asking(connection)
            assert connection.trouble.startswith("cannot talk to http://127.0.0.1:9: ")
            assert "object at" not in connection.trouble
            credentials.url = server_url
            connection._use(await credentials.load())
            await asking(connection)
            assert not connection.trouble
            await connection.close()

    asyncio.run(main())
