"""Changes between two states of the page's data, and how they reach pages."""

import asyncio
import json

import pytest

from posse.page.feed import KEPT_CHANGES, LiveFeed
from posse.page.increments import increment


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"nodes": {"a": 1, "b": 2}}, {"nodes": {"a": 1, "b": 3, "c": 4}}, {"nodes": {"b": 3, "c": 4}}),
        ({"nodes": {"a": 1}}, {"nodes": {}}, {"nodes": {"a": None}}),
        ({"nodes": {"a": 1}, "time": 1}, {"nodes": {"a": 1}, "time": 2}, {"time": 2}),
        ({"nodes": {"a": 1}}, {"nodes": {"a": 1}}, {}),
        ({}, {"nodes": {"a": 1}}, {"nodes": {"a": 1}}),
    ],
)
def test_only_what_differs_is_sent(before, after, found):
    assert increment(before, after) == found


def events(text):
    return [
        (block.split("\n")[0].removeprefix("event: "), json.loads(block.split("\ndata: ")[1]))
        for block in text.decode().split("\n\n")
        if block
    ]


def test_a_new_page_gets_everything_and_then_changes():
    feed = LiveFeed()
    feed.publish({"nodes": {"a": 1, "b": 1}})
    assert events(feed.since(0)) == [("whole", {"nodes": {"a": 1, "b": 1}})]
    seen = feed.version
    feed.publish({"nodes": {"a": 2, "b": 1}})
    feed.publish({"nodes": {"a": 2}})
    assert events(feed.since(seen)) == [("change", {"nodes": {"a": 2}}), ("change", {"nodes": {"b": None}})]


def test_equal_data_is_no_news():
    feed = LiveFeed()
    feed.publish({"nodes": {"a": 1}})
    feed.publish({"nodes": {"a": 1}})
    assert feed.version == 1


def test_a_page_that_is_far_behind_gets_everything_again():
    feed = LiveFeed()
    for number in range(KEPT_CHANGES + 2):
        feed.publish({"nodes": {"a": number}})
    assert events(feed.since(1)) == [("whole", {"nodes": {"a": KEPT_CHANGES + 1}})]


def test_waiting_pages_wake_when_something_is_published():
    async def waited():
        feed = LiveFeed()
        waiting = asyncio.ensure_future(feed.newer_than(0))
        await asyncio.sleep(0)
        feed.publish({"nodes": {}})
        await asyncio.wait_for(waiting, 5)

    asyncio.run(waited())
