"""Bursts of work take turns with everything else in the event loop, and nothing is lost or done twice."""

import asyncio

from posse.apiserver import time_slices
from posse.apiserver.time_slices import TimeSlices


def test_a_burst_is_spread_over_many_turns_of_the_event_loop(monkeypatch):
    now = 0.0
    monkeypatch.setattr(time_slices.time, "perf_counter", lambda: now)

    async def main():
        slices, done, rounds = TimeSlices(), [], 0

        async def work(number):
            nonlocal now
            await slices.turn()
            # Each takes a fifth of a slice.
            now += 0.001
            done.append(number)

        burst = asyncio.gather(*(work(number) for number in range(100)))
        while not burst.done():
            before = len(done)
            await asyncio.sleep(0)
            rounds += 1
            assert len(done) - before <= 7
        return done, rounds

    now = 10.0
    done, rounds = asyncio.run(main())
    assert sorted(done) == list(range(100))
    assert rounds > 15


def test_what_waits_is_served_in_order_and_costs_nothing_meanwhile(monkeypatch):
    now = 10.0
    monkeypatch.setattr(time_slices.time, "perf_counter", lambda: now)
    looks = 0
    is_used_up = TimeSlices._is_used_up

    def look(slices):
        nonlocal looks
        looks += 1
        return is_used_up(slices)

    monkeypatch.setattr(TimeSlices, "_is_used_up", look)

    async def main():
        slices, done = TimeSlices(), []

        async def work(number):
            nonlocal now
            await slices.turn()
            now += 0.002
            done.append(number)

        await asyncio.gather(*(work(number) for number in range(2000)))
        return done

    done = asyncio.run(main())
    assert sorted(done) == list(range(2000))
    assert done.index(0) < 50 < done.index(1000) < done.index(1999)
    assert looks < 2000 * time_slices._MAX_WOKEN
