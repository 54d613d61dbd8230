"""Taking a port, telling which one it is, and giving it back."""

import asyncio
import socket

import pytest
from aiohttp import web

from posse.apiserver.http.server import PortInUse, serve


def test_a_port_in_use_is_told_with_what_to_do():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse) as caught:
            asyncio.run(serve(web.Application(), "127.0.0.1", port, None))
    assert caught.value.port == port
    assert f"127.0.0.1:{port} is already in use" in str(caught.value)
    assert "--port" in str(caught.value)


def test_an_address_that_is_not_ours_is_another_error():
    with pytest.raises(OSError, match=r"203\.0\.113\.1"):
        asyncio.run(serve(web.Application(), "203.0.113.1", 0, None))


def test_port_0_takes_a_free_port_and_closing_gives_it_back():
    async def listen_twice() -> tuple[str, str]:
        first = await serve(web.Application(), "127.0.0.1", 0, None)
        await first.close()
        second = await serve(web.Application(), "127.0.0.1", first.port, None)
        await second.close()
        return first.url, second.url

    first, second = asyncio.run(listen_twice())
    assert first == second
    assert first.startswith("http://127.0.0.1:")
    assert not first.endswith(":0")
