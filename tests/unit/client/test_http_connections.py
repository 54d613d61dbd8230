import asyncio

import pytest

from posse.client.credentials import ClusterAccess
from posse.client.http_connections import Patience, SilentConnection, Wires
from posse.client.http_responses import AnswerBroken

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
YES = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"


SILENCE = b""


def served(scenario, *answers, seconds=5.0, silences=None):
    """Run `scenario(wires, connections)` with a server that gives each request the next answer; None: closes instead."""
    connections = []
    left = list(answers)

    async def serve(reader, writer):
        connections.append(writer)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                answer = left.pop(0) if left else YES
                if answer is None:
                    break
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        patience = Patience(1.0, seconds, read_silence=0.05, write_silence=0.05)
        told = (lambda _since: None) if silences is None else silences.append
        wires = Wires(ClusterAccess(f"http://127.0.0.1:{port}", "", None, None, None), patience, told)
        try:
            return await scenario(wires, connections)
        finally:
            wires.close()
            server.close()

    return asyncio.run(main())


def test_a_connection_is_kept_for_the_next_request():
    async def scenario(wires, connections):
        bodies = [(await wires.exchange(REQUEST)).body for _ in range(5)]
        return bodies, len(connections)

    assert served(scenario) == ([b"yes"] * 5, 1)


def test_what_is_under_way_when_the_wires_are_closed_ends_and_leaves_no_connection():
    async def scenario(wires, connections):
        asking = asyncio.ensure_future(wires.exchange(REQUEST))
        await asyncio.sleep(0)
        wires.close()
        body = (await asking).body
        async with asyncio.timeout(5):
            await connections[0].wait_closed()
        return body

    assert served(scenario) == b"yes"


def test_requests_at_once_each_have_a_connection():
    async def scenario(wires, connections):
        await asyncio.gather(*(wires.exchange(REQUEST) for _ in range(4)))
        await asyncio.gather(*(wires.exchange(REQUEST) for _ in range(4)))
        return len(connections)

    assert served(scenario) == 4


def test_a_server_that_says_goodbye_is_not_asked_on_that_connection_again():
    async def scenario(wires, connections):
        await wires.exchange(REQUEST)
        await wires.exchange(REQUEST)
        return len(connections)

    goodbye = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    assert served(scenario, goodbye) == 2


def test_a_connection_that_ended_meanwhile_is_left_out():
    async def scenario(wires, connections):
        await wires.exchange(REQUEST)
        connections[0].close()
        await asyncio.sleep(0.05)
        return (await wires.exchange(REQUEST)).body, len(connections)

    assert served(scenario) == (b"yes", 2)


def test_a_server_that_hangs_up_has_not_answered():
    async def scenario(wires, connections):
        await wires.exchange(REQUEST)

    with pytest.raises((AnswerBroken, OSError)):
        served(scenario, None)


def test_nonsense_is_no_answer_and_ends_the_connection():
    async def scenario(wires, connections):
        with pytest.raises(AnswerBroken):
            await wires.exchange(REQUEST)
        await wires.exchange(REQUEST)
        return len(connections)

    assert served(scenario, b"nonsense\r\n\r\n") == 2


def test_an_answer_that_comes_too_late_is_not_taken_for_another():
    async def scenario(wires, connections):
        with pytest.raises(TimeoutError):
            await wires.exchange(REQUEST)
        connections[0].write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate")
        return (await wires.exchange(REQUEST)).body

    assert served(scenario, b"HTTP/1.1 ", seconds=0.1) == b"yes"


def test_what_nobody_asked_for_ends_the_connection():
    async def scenario(wires, connections):
        await wires.exchange(REQUEST)
        connections[0].write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwhat")
        await asyncio.sleep(0.05)
        return (await wires.exchange(REQUEST)).body, len(connections)

    assert served(scenario) == (b"yes", 2)


def test_the_fence_is_asked_when_the_connection_is_open_and_keeps_it():
    asked = []

    async def scenario(wires, connections):
        def closed():
            asked.append(True)
            raise PermissionError

        for _ in range(2):
            with pytest.raises(PermissionError):
                await wires.exchange(REQUEST, closed)
        answer = await wires.exchange(REQUEST)
        return answer.body, len(connections)

    assert served(scenario) == (b"yes", 1)
    assert len(asked) == 2


def test_a_read_on_a_silent_connection_is_answered_on_a_second_one():
    silences = []

    async def scenario(wires, connections):
        await wires.exchange(REQUEST)
        answer = await wires.exchange(REQUEST, changes_nothing=True)
        return answer.body, len(connections)

    assert served(scenario, YES, SILENCE, silences=silences) == (b"yes", 2)
    assert len(silences) == 1


def test_a_write_on_a_silent_connection_is_given_up_and_not_sent_twice():
    async def scenario(wires, connections):
        await wires.exchange(REQUEST)
        with pytest.raises(SilentConnection):
            await wires.exchange(REQUEST)
        return (await wires.exchange(REQUEST)).body, len(connections)

    assert served(scenario, YES, SILENCE) == (b"yes", 2)


def test_one_silent_connection_empties_the_pool():
    """All five are dead; before, each of the others cost its own wait."""

    async def scenario(wires, connections):
        await asyncio.gather(*(wires.exchange(REQUEST) for _ in range(5)))
        with pytest.raises(SilentConnection):
            await wires.exchange(REQUEST)
        bodies = [(await wires.exchange(REQUEST)).body for _ in range(5)]
        return bodies, len(connections)

    assert served(scenario, *[YES] * 5, SILENCE) == ([b"yes"] * 5, 6)


def test_a_slow_answer_on_a_kept_connection_counts_if_it_comes_first():
    """The second connection is silent as well: the server is slow, and no connection is blamed."""
    silences = []

    async def scenario(wires, connections):
        await wires.exchange(REQUEST)
        asking = asyncio.ensure_future(wires.exchange(REQUEST, changes_nothing=True))
        while len(connections) < 2:  # noqa: ASYNC110 - it has no event to wait for
            await asyncio.sleep(0.01)
        connections[0].write(YES)
        return (await asking).body, len(connections)

    assert served(scenario, YES, SILENCE, SILENCE, silences=silences) == (b"yes", 2)
    assert not silences


def test_a_new_connection_has_its_time():
    async def scenario(wires, connections):
        with pytest.raises(TimeoutError):
            await wires.exchange(REQUEST, changes_nothing=True)
        return len(connections)

    assert served(scenario, SILENCE, seconds=0.3) == 1


def test_what_is_under_way_on_a_new_connection_is_given_up_when_another_one_is_dead():
    """The fault came while both waited; a new connection alone would have had its whole time."""

    async def scenario(wires, connections):
        await wires.exchange(REQUEST)
        kept = asyncio.ensure_future(wires.exchange(REQUEST, changes_nothing=True))
        new = asyncio.ensure_future(wires.exchange(REQUEST))
        new_wire = await waiting_on_a_new_connection(wires)
        new_wire.heard_at -= 1.0
        assert (await kept).body == b"yes"
        with pytest.raises(SilentConnection):
            await new

    async def waiting_on_a_new_connection(wires):
        while len(wires._busy) < 2:  # noqa: ASYNC110 - it has no event to wait for
            await asyncio.sleep(0)
        return max(wires._busy, key=lambda wire: wire.heard_at)

    served(scenario, YES, SILENCE, SILENCE, YES)
