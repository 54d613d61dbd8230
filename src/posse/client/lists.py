"""Lists of any length, in pages: while one is read, the server makes the next.

So a list takes the memory of two pages, and as long as the slower side takes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from posse.client.connection import Call
from posse.client.reading import WirePage
from posse.kinds.machinery.errors import EXPIRED, ApiError

PAGE = 500
"""Objects in a page."""

FetchPage = Callable[[Call], Awaitable[WirePage]]


class RawPage(NamedTuple):
    items: Sequence[msgspec.Raw]
    resource_version: str
    is_first: bool


async def raw_pages(call: Call, fetch: FetchPage) -> AsyncIterator[RawPage]:
    """If the server forgets where we were, everything comes once more, and all at once."""
    selection = dict(call.query or {})
    query, is_first = {**selection, "limit": str(PAGE)}, True
    fetching = asyncio.ensure_future(fetch(replace(call, query=query)))
    try:
        while True:
            try:
                page = await fetching
            except ApiError as error:
                if error.code != EXPIRED or "limit" not in query:
                    raise
                query, is_first = selection, True
                fetching = asyncio.ensure_future(fetch(replace(call, query=query)))
                continue
            if token := page.metadata.continue_token:
                query["continue"] = token
                fetching = asyncio.ensure_future(fetch(replace(call, query=query)))
            yield RawPage(page.items or (), page.metadata.resource_version, is_first)
            if not token:
                return
            is_first = False
    finally:
        # Its outcome is not asked for if this ends early.
        fetching.add_done_callback(lambda done: done.cancelled() or done.exception())
        fetching.cancel()
