"""An answer that goes on for as long as client and server like, such as a watch."""

import time
from collections.abc import AsyncIterator, Sequence

import aiohttp


class Stream:
    """`heard_at` is when the last bytes came, by the monotonic clock."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.heard_at = time.monotonic()

    async def lines(self) -> AsyncIterator[Sequence[bytes]]:
        """Yield what has arrived, in whole lines; half a line at the end is of no use.

        It ends when the server has been quiet for too long.
        """
        parts: list[bytes] = []
        try:
            async for chunk in self._response.content.iter_any():
                self.heard_at = time.monotonic()
                head, newline, tail = chunk.rpartition(b"\n")
                if newline:
                    yield b"".join([*parts, head]).split(b"\n")
                    parts = [tail]
                else:
                    parts.append(chunk)
        except aiohttp.SocketTimeoutError:
            return

    def cut(self) -> None:
        """Leave the answer at once, without waiting for the server to agree."""
        connection = self._response.connection
        if connection is not None and connection.transport is not None:
            connection.transport.abort()
