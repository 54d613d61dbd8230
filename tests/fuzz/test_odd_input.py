"""A short round of `make fuzz`, with the same seeds each time. What longer ones found is tested beside its code."""

import asyncio

from tests.fuzz import engine_objects, functions, http_requests
from tests.support.effort import up_to


def test_functions_take_or_refuse_whatever_comes():
    functions.fuzz(up_to(200), seed=0)


def test_an_engine_takes_objects_that_nobody_would_write():
    engine_objects.fuzz(up_to(60), seed=0)


def test_no_request_brings_the_server_down(tmp_path):
    statuses, *_memory = asyncio.run(http_requests.fuzz(tmp_path / "server", up_to(1200), seed=0))
    assert {200, 404, 422} <= set(statuses)
