"""Lists of any length, in pages: while one is read, the server makes the next.

So a list takes the memory of two pages, and as long as the slower side takes.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import msgspec

from posse.client.connection import Call
from posse.client.reading import WirePage
from posse.kinds.machinery.errors import EXPIRED, ApiError
from posse.transport.objects import Item, PageOf

PAGE = 500
"""Objects in a page."""

FetchPage = Callable[[Call], Awaitable[WirePage]]


async def gathered(pages: AsyncIterator[PageOf[Item]]) -> tuple[list[Item], str]:
    """All items of a list, and its version. Where it begins again, earlier pages do not count."""
    items: list[Item] = []
    resource_version = ""
    async for page in pages:
        if page.is_first:
            items.clear()
        items += page.items
        resource_version = page.resource_version
    return items, resource_version


async def raw_pages(call: Call, fetch: FetchPage) -> AsyncIterator[PageOf[msgspec.Raw]]:
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
            yield PageOf(page.items or (), page.metadata.resource_version, is_first)
            if not token:
                return
            is_first = False
    finally:
        # Its outcome is not asked for if this ends early.
        fetching.add_done_callback(lambda done: done.cancelled() or done.exception())
        fetching.cancel()
