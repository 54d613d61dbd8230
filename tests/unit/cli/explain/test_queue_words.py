"""The place in the queue, as the engine knows it and as the scheduler has written it."""

import time

import pytest

from posse.cli.explain.queue_words import published_place, queue_text
from posse.engine.explain.queue_order import Ahead
from posse.engine.forecast.forecast import Forecast

NOW = time.mktime((2026, 3, 4, 13, 50, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("ahead", "text"),
    [
        (Ahead(0, 0), "first"),
        (Ahead(2, 1), "1 group and 2 pods ahead of it, not blocking it"),
        (
            Ahead(0, 0, 3),
            "by expected work among 3 others of its priority; only its scheduler knows its place",
        ),
    ],
)
def test_a_place_is_told_where_it_is_certain(ahead, text):
    assert queue_text(ahead, is_blocked=False) == text


def test_what_is_ahead_may_block_it():
    assert queue_text(Ahead(1, 0), is_blocked=True) == "1 pod ahead of it"


@pytest.mark.parametrize(
    ("ahead", "text"),
    [
        (None, ""),
        (Ahead(0, 0), "first at 13:50, by expected work"),
        (Ahead(12, 3), "3 groups and 12 pods ahead of it at 13:50, by expected work"),
    ],
)
def test_what_the_scheduler_has_written_counts_for_its_time(ahead, text):
    assert published_place(Forecast(NOW, NOW + 60, NOW + 90, ahead=ahead), NOW) == text
    assert published_place(None, NOW) == ""
