"""Bursts of work take turns with everything else in the event loop, and nothing is lost or done twice."""

import asyncio

from posse.apiserver import time_slices
from posse.apiserver.time_slices import TimeSlices


def test_a_burst_is_spread_over_many_turns_of_the_event_loop(monkeypatch):
    now = 0.0
    monkeypatch.setattr(time_slices.time, "perf_counter", lambda: now)

    async def main():
        lane, done, rounds = TimeSlices().lane(), [], 0

        async def work(number):
            nonlocal now
            await lane.turn()
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
    are_used_up = TimeSlices.are_used_up

    def look(slices):
        nonlocal looks
        looks += 1
        return are_used_up(slices)

    monkeypatch.setattr(TimeSlices, "are_used_up", look)

    async def main():
        lane, done = TimeSlices().lane(), []

        async def work(number):
            nonlocal now
            await lane.turn()
            now += 0.002
            done.append(number)

        await asyncio.gather(*(work(number) for number in range(2000)))
        return done

    done = asyncio.run(main())
    assert sorted(done) == list(range(2000))
    assert done.index(0) < 50 < done.index(1000) < done.index(1999)
    assert looks < 2000 * time_slices._MAX_WOKEN


def test_a_lane_does_not_wait_for_all_that_waits_in_another(monkeypatch):
    """Also if its turns take a whole slice each."""
    now = 10.0
    monkeypatch.setattr(time_slices.time, "perf_counter", lambda: now)

    async def main():
        slices, done = TimeSlices(), []
        crowded, quiet = slices.lane(), slices.lane()

        async def work(lane, name, seconds):
            nonlocal now
            await lane.turn()
            now += seconds
            done.append(name)

        burst = asyncio.gather(*(work(crowded, "burst", 0.002) for _ in range(1000)))
        for _ in range(10):
            await work(quiet, "quiet", 0.006)
        before = done.count("burst")
        await burst
        return before, done

    before, done = asyncio.run(main())
    assert len(done) == 1010
    assert before < 100


def test_a_lane_of_long_turns_leaves_turns_to_the_others(monkeypatch):
    now = 10.0
    monkeypatch.setattr(time_slices.time, "perf_counter", lambda: now)

    async def main():
        slices, done = TimeSlices(), []
        lanes = [slices.lane() for _ in range(3)]

        async def work(number):
            nonlocal now
            await lanes[number].turn()
            now += 0.006
            done.append(number)

        await asyncio.gather(*(work(number) for number in range(3) for _ in range(40)))
        return done

    done = asyncio.run(main())
    assert all(30 < done[:60].count(number) * 2 < 50 for number in range(3)), done


def test_turns_longer_than_a_slice_keep_their_order(monkeypatch):
    now = 10.0
    monkeypatch.setattr(time_slices.time, "perf_counter", lambda: now)

    async def main():
        lane, done = TimeSlices().lane(), []

        async def work(number):
            nonlocal now
            await lane.turn()
            now += 0.006
            done.append(number)

        await asyncio.gather(*(work(number) for number in range(80)))
        return done

    assert asyncio.run(main()) == list(range(80))


def test_each_slice_serves_one_however_long_other_work_takes(monkeypatch):
    now = 10.0
    monkeypatch.setattr(time_slices.time, "perf_counter", lambda: now)

    async def main():
        lane, done, rounds = TimeSlices().lane(), [], 0

        async def other():
            nonlocal now
            while True:
                now += 0.01
                await asyncio.sleep(0)

        async def work(number):
            await lane.turn()
            done.append(number)

        busy = asyncio.create_task(other())
        burst = asyncio.gather(*(work(number) for number in range(10)))
        while not burst.done() and rounds < 1000:
            await asyncio.sleep(0)
            rounds += 1
        busy.cancel()
        return done

    assert asyncio.run(main()) == list(range(10))
