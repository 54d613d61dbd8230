import asyncio

from posse.client.write_priorities import Lane, Lanes, Pace, RequestLimits


def test_what_matters_more_goes_first_and_only_so_many_at_once():
    entered, most = [], 0

    async def write(lanes, lane, done):
        nonlocal most
        async with lanes.turn(lane):
            entered.append(lane)
            most = max(most, len(entered) - done.count)
            await asyncio.sleep(0.001)
            done.count += 1

    class Done:
        count = 0

    async def main():
        lanes, done = Lanes(RequestLimits(at_once=4)), Done()
        order = [Lane.EVENT] * 6 + [Lane.STATUS] * 6 + [Lane.BINDING] * 6
        await asyncio.gather(*(write(lanes, lane, done) for lane in order))

    asyncio.run(main())
    assert most == 4
    # One event was there before anybody else came; after that everything goes by what matters.
    assert entered[0] is Lane.EVENT
    assert [lane for lane in entered if lane is not Lane.EVENT] == entered[1:13]
    assert entered.index(Lane.EVENT, 1) == 13
    assert sum(lane is Lane.BINDING for lane in entered[:8]) >= 5


def test_one_who_gives_up_waiting_takes_no_place():
    async def main():
        lanes = Lanes(RequestLimits(at_once=1))
        entered = []

        async def write(name):
            async with lanes.turn(Lane.BINDING):
                entered.append(name)
                await asyncio.sleep(0)

        async with lanes.turn(Lane.BINDING):
            patient, impatient = (
                asyncio.create_task(write("patient")),
                asyncio.create_task(write("impatient")),
            )
            await asyncio.sleep(0)
            impatient.cancel()
            await asyncio.sleep(0)
        # Let through and called off in the same moment: the place goes to the next.
        late = asyncio.create_task(write("late"))
        await asyncio.gather(patient, late)
        return entered

    assert asyncio.run(main()) == ["patient", "late"]


def test_a_place_given_to_one_who_is_called_off_is_given_back():
    async def main():
        lanes = Lanes(RequestLimits(at_once=1))

        async def write():
            async with lanes.turn(Lane.STATUS):
                pass

        async with lanes.turn(Lane.STATUS):
            waiting = asyncio.create_task(write())
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        async with asyncio.timeout(1):
            await write()

    asyncio.run(main())


def moments(*several, writes):
    """When each of so many writes got its turn, on each of these lanes alike."""

    async def main():
        loop, times = asyncio.get_running_loop(), []

        async def write(lanes):
            async with lanes.turn(Lane.BINDING):
                times.append(loop.time())

        begun = loop.time()
        await asyncio.gather(*(write(lanes) for lanes in several for _ in range(writes)))
        return [at - begun for at in times]

    return asyncio.run(main())


def test_a_rate_lets_a_burst_through_and_then_paces():
    times = moments(Lanes(RequestLimits(at_once=100, pace=Pace(200, burst=10))), writes=14)
    assert times[13] >= 4 / 200 - 0.001


def test_lanes_of_the_same_limits_keep_one_pace_together():
    limits = RequestLimits(at_once=100, pace=Pace(200, burst=10))
    times = moments(Lanes(limits), Lanes(limits), writes=7)
    assert times[13] >= 4 / 200 - 0.001


def test_events_are_not_kept_out_for_ever():
    async def main():
        lanes, told = Lanes(RequestLimits(at_once=32)), []
        enough = asyncio.Event()

        async def bind():
            async with lanes.turn(Lane.BINDING):
                await enough.wait()

        async def tell(number):
            async with lanes.turn(Lane.EVENT):
                told.append(number)

        binding = [asyncio.create_task(bind()) for _ in range(100)]
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await asyncio.gather(*(tell(number) for number in range(10)))
        enough.set()
        await asyncio.gather(*binding)
        return told

    assert sorted(asyncio.run(main())) == list(range(10))
