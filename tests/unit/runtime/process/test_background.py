import asyncio

from posse.runtime.process.background import Background, BackgroundFailed


async def forever():
    await asyncio.Event().wait()


async def break_down():
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(fail())


async def fail():
    raise KeyError("lost")


async def nothing():
    return


def test_the_first_failure_is_told_with_its_name_and_cause(caplog):
    async def main():
        background = Background()
        background.start("the idler", forever())
        background.start("the breaker", break_down())
        failure = await asyncio.wait_for(background.wait_failed(), 1)
        await background.stop()
        return failure

    failure = asyncio.run(main())
    assert isinstance(failure, BackgroundFailed)
    assert str(failure) == "the breaker stopped working (KeyError: 'lost')"
    assert "the breaker stopped" in caplog.text
    assert "in fail" in caplog.text


def test_ending_by_itself_is_a_failure_too():
    async def main():
        background = Background()
        background.start("the short one", nothing())
        return await asyncio.wait_for(background.wait_failed(), 1)

    assert "the short one" in str(asyncio.run(main()))


def test_stopping_ends_the_last_started_first_and_is_no_failure():
    ended = []

    async def work(name):
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            ended.append(name)

    async def main():
        background = Background()
        background.start("first", work("first"))
        background.start("second", work("second"))
        waiting = asyncio.create_task(background.wait_failed())
        await asyncio.sleep(0)
        await background.stop()
        assert not waiting.done()
        waiting.cancel()

    asyncio.run(main())
    assert ended == ["second", "first"]
