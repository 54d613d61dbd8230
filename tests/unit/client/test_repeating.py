import asyncio

import pytest

from posse.client import repeating
from posse.client.connection import RequestRefused
from posse.client.repeating import Pauses, repeated, retry_after
from posse.kinds.machinery.errors import ApiError


def attempts(*outcomes, give_up_seconds=5.0):
    left, number = list(outcomes), 0

    async def ask():
        nonlocal number
        number += 1
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    try:
        asyncio.run(repeated(ask, give_up_seconds))
    except ApiError as error:
        return number, error.code
    return number, None


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(repeating, "FIRST_PAUSE_SECONDS", 0.0001)


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again(code):
    assert attempts(ApiError(code, "", ""), ApiError(code, "", ""), "yes") == (3, None)


@pytest.mark.parametrize("code", [400, 403, 404, 409, 410, 422])
def test_what_will_not_pass_is_not(code):
    assert attempts(ApiError(code, "", ""), "yes") == (1, code)


def test_it_is_given_up_in_the_end():
    number, code = attempts(ApiError(503, "", ""), give_up_seconds=0.01)
    assert number > 1
    assert code == 503


def test_a_server_that_wants_to_be_left_alone_for_long_is_not_waited_for():
    busy = RequestRefused(429, "TooManyRequests", "")
    busy.retry_after = 60.0
    assert attempts(busy, "yes") == (1, 429)


@pytest.mark.parametrize(("wanted", "obeyed"), [(0.0, 0.0), (7.0, 7.0), (3600.0, 30.0)])
def test_a_server_is_left_alone_for_as_long_as_it_wants_within_reason(wanted, obeyed):
    busy = RequestRefused(503, "ServiceUnavailable", "")
    busy.retry_after = wanted
    assert retry_after(busy) == obeyed


def test_pauses_grow_up_to_a_limit_differ_and_start_over(monkeypatch):
    monkeypatch.setattr(repeating, "FIRST_PAUSE_SECONDS", 1.0)
    shares = iter([0.5, 1.0, 0.75, 0.5, 1.0, 0.5])
    pauses = Pauses(4.0, lambda least, most: next(shares))
    assert [pauses.next() for _ in range(4)] == [0.5, 2.0, 3.0, 2.0]
    assert pauses.next(wanted_seconds=9.0) == 9.0
    pauses.start_over()
    assert pauses.next() == 0.5


def test_pauses_of_many_are_not_the_same():
    pauses = {Pauses().next() for _ in range(20)}
    assert len(pauses) > 1
    assert max(pauses) <= repeating.FIRST_PAUSE_SECONDS
