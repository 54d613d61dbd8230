"""Reads answers of HTTP/1.1 servers as their bytes come in. Knows no sockets.

Only what API servers send is understood: a length, chunks, or everything until the connection ends.
"""

import re
from dataclasses import dataclass

HEAD_BYTES_MAX = 64 * 1024
_LINE_END = b"\r\n"
_END_OF_HEAD = b"\r\n\r\n"
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?: |\r|$)")
_WITHOUT_BODY = frozenset({204, 304})


class AnswerBroken(Exception):  # noqa: N818 - it names what happened
    """What came is not an answer, or stopped in the middle of one."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    body: bytes
    retry_after: str = ""
    is_last: bool = False
    """Whether the connection is of no use afterwards."""


class AnswerReader:
    """Reads one answer. `feed` what comes until that gives an answer; `end` when the connection has."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._status = 0
        self._head = b""
        self._length: int | None = None
        self._is_chunked = False
        self._chunks: list[bytes] = []

    def feed(self, data: bytes) -> HttpResponse | None:
        self._buffer += data
        if not self._status and not self._read_head():
            return None
        if self._is_chunked:
            return self._read_chunks()
        if self._length is None or len(self._buffer) < self._length:
            return None
        return self._answer(bytes(self._buffer[: self._length]))

    def end(self) -> HttpResponse:
        """The connection has ended; that may be how the server says that this was all."""
        if self._status and self._length is None and not self._is_chunked:
            return self._answer(bytes(self._buffer))
        raise AnswerBroken("the connection ended before the answer did")

    def _read_head(self) -> bool:
        end = self._buffer.find(_END_OF_HEAD)
        if end < 0:
            if len(self._buffer) > HEAD_BYTES_MAX:
                raise AnswerBroken("the head of the answer has no end")
            return False
        head = bytes(self._buffer[: end + len(_LINE_END)])
        del self._buffer[: end + len(_END_OF_HEAD)]
        status = _STATUS.match(head)
        if status is None:
            raise AnswerBroken(f"not an answer of an HTTP server: {head[:80]!r}")
        if status[1].startswith(b"1"):
            # It only says that it goes on.
            return self._read_head()
        self._status = int(status[1])
        self._head = head.lower()
        self._read_length()
        return True

    def _read_length(self) -> None:
        self._is_chunked = self._header(b"transfer-encoding") == b"chunked"
        if self._status in _WITHOUT_BODY:
            self._length, self._is_chunked = 0, False
        elif not self._is_chunked and (length := self._header(b"content-length")):
            self._length = _number(length, 10)

    def _header(self, name: bytes) -> bytes:
        """In lower case; empty if there is none. Few are asked for, so the others are not even looked at."""
        begin = self._head.find(b"\r\n" + name + b":")
        if begin < 0:
            return b""
        end = self._head.find(_LINE_END, begin + len(_LINE_END))
        return self._head[begin + len(name) + 3 : end].strip()

    def _read_chunks(self) -> HttpResponse | None:
        """Each chunk is preceded by its size, and the last is empty; trailers are ignored."""
        while (end := self._buffer.find(b"\r\n")) >= 0:
            size = _number(bytes(self._buffer[:end]).partition(b";")[0], 16)
            begin = end + 2
            if size == 0:
                if self._buffer[begin : begin + 2] == b"\r\n" or _END_OF_HEAD in self._buffer:
                    return self._answer(b"".join(self._chunks))
                return None
            if len(self._buffer) < begin + size + 2:
                return None
            self._chunks.append(bytes(self._buffer[begin : begin + size]))
            del self._buffer[: begin + size + 2]
        return None

    def _answer(self, body: bytes) -> HttpResponse:
        closes = self._header(b"connection") == b"close"
        is_open_ended = self._length is None and not self._is_chunked
        retry_after = self._header(b"retry-after").decode(errors="replace")
        return HttpResponse(self._status, body, retry_after, closes or is_open_ended)


def _number(text: bytes, base: int) -> int:
    try:
        number = int(text, base)
    except ValueError as error:
        raise AnswerBroken(f"{text[:20]!r} is not a length") from error
    if number < 0:
        raise AnswerBroken(f"{text[:20]!r} is not a length")
    return number
