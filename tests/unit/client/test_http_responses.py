import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.client import http_responses as answers
from posse.client.http_responses import AnswerBroken, AnswerReader, HttpResponse

WITH_LENGTH = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\ncontent-length: 5\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3\r\nhel\r\n2;name=value\r\nlo\r\n1\r\n\n\r\n0\r\n\r\n"
)
BUSY = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"
GOING_ON = b"HTTP/1.1 100 Continue\r\n\r\n" + WITH_LENGTH
WITH_TRAILERS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nExpires: never\r\n\r\n"

ANSWERS = {
    WITH_LENGTH: HttpResponse(201, b"hello"),
    CHUNKED: HttpResponse(200, b"hello\n"),
    BUSY: HttpResponse(429, b"", "3", is_last=True),
    EMPTY: HttpResponse(204, b""),
    GOING_ON: HttpResponse(201, b"hello"),
    WITH_TRAILERS: HttpResponse(200, b""),
}


@given(st.sampled_from(list(ANSWERS)), st.lists(st.integers(1, 120), max_size=6))
def test_an_answer_is_the_same_in_whatever_pieces_it_comes(text, cuts):
    reader = AnswerReader()
    borders = [0, *sorted(cut for cut in set(cuts) if cut < len(text)), len(text)]
    pieces = [text[begin:end] for begin, end in itertools.pairwise(borders)]
    *early, last = [reader.feed(piece) for piece in pieces]
    assert early == [None] * len(early)
    assert last == ANSWERS[text]


def test_without_a_length_the_end_of_the_connection_is_the_end_of_the_answer():
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.0 200 OK\r\n\r\nhel") is None
    assert reader.feed(b"lo") is None
    assert reader.end() == HttpResponse(200, b"hello", is_last=True)


@pytest.mark.parametrize("text", [b"", WITH_LENGTH[:20], WITH_LENGTH[:-1], CHUNKED[:-5]])
def test_an_answer_that_breaks_off_is_none(text):
    reader = AnswerReader()
    if text:
        assert reader.feed(text) is None
    with pytest.raises(AnswerBroken, match="ended before"):
        reader.end()


@pytest.mark.parametrize(
    "text",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_answer_is_told(text):
    with pytest.raises(AnswerBroken):
        AnswerReader().feed(text)


def test_a_head_without_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(answers, "HEAD_BYTES_MAX", 100)
    with pytest.raises(AnswerBroken, match="no end"):
        AnswerReader().feed(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20)
