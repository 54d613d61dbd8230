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
