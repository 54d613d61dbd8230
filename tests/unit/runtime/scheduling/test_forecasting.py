"""Forecasts of a running scheduler: made in another process, and written on groups when they change."""

import asyncio
import contextlib

from posse.engine.forecast.forecast_note import FORECAST, read_forecast
from posse.engine.groups.annotations import EXPECTED_DURATION
from posse.engine.keys import GroupKey
from posse.kinds.machinery.errors import not_found
from posse.runtime.scheduling.engine_thread import EngineThread
from posse.runtime.scheduling.forecasting import Forecasting
from tests.support.builders import NAMESPACE, changed, gang, node, pod
from tests.support.engine_driver import Driver

SECOND = GroupKey(NAMESPACE, "second")


class Patches:
    """An API server that takes patches, or refuses them."""

    def __init__(self, *, refuses=False):
        self.written, self.refuses, self.has_written = [], refuses, asyncio.Event()

    async def patch(self, kind, namespace, name, patch, *, subresource=""):
        if self.refuses:
            raise not_found(kind, name)
        self.written.append((name, patch.body["metadata"]["annotations"][FORECAST]))
        self.has_written.set()
        return {}


def members(name):
    return [pod(f"{name}-{index}", "1", group=name) for index in range(2)]


def waiting():
    """The second gang waits for the first."""
    lasting = changed(gang("first"), metadata={"annotations": {EXPECTED_DURATION: "1h"}})
    driver = Driver(node("n1", cpu="2"), lasting, *members("first"))
    driver.decide()
    driver.see(gang("second"), *members("second"))
    driver.decide()
    return driver


def test_what_an_earlier_scheduler_wrote_is_removed_from_groups_that_have_started():
    noted = changed(gang("first"), metadata={"annotations": {FORECAST: "{}"}})
    started = [changed(one, spec={"node_name": "n1"}) for one in members("first")]
    driver = Driver(node("n1", cpu="2"), noted, *started)
    driver.decide()
    transport = Patches()
    forecast_twice(driver, transport, later=10.0)
    assert transport.written == [("first", None)]


def forecast_twice(driver, transport, later):
    async def scenario():
        thread = EngineThread(driver.engine, lambda: driver.now)
        forecasting = Forecasting(thread, transport, lambda: driver.now)
        try:
            await forecasting._renew()
            driver.now += later
            await forecasting._renew()
            return forecasting
        finally:
            await forecasting._process.end()
            thread.close()

    return asyncio.run(scenario())


def test_a_forecast_is_written_once_while_it_holds():
    transport = Patches()
    found = forecast_twice(waiting(), transport, later=20)
    assert [name for name, _ in transport.written] == ["second"]
    forecast = read_forecast(transport.written[0][1])
    assert forecast.waits_for.name == "first"
    assert SECOND in found.book.latest


def test_a_forecast_that_moves_is_written_again():
    transport = Patches()
    forecast_twice(waiting(), transport, later=7200)
    assert [name for name, _ in transport.written] == ["second", "second"]


def test_a_group_that_is_gone_costs_nothing():
    found = forecast_twice(waiting(), Patches(refuses=True), later=20)
    assert SECOND in found.book.latest


def test_starts_are_learned():
    driver, transport = waiting(), Patches()

    async def scenario():
        thread = EngineThread(driver.engine, lambda: driver.now)
        forecasting = Forecasting(thread, transport, lambda: driver.now)
        try:
            await forecasting._renew()
            driver.now += 3600
            driver.lose(*members("first"))
            driver.decide()
            await forecasting._renew()
            return forecasting.book
        finally:
            await forecasting._process.end()
            thread.close()

    book = asyncio.run(scenario())
    assert book.tally.inside == 1
    assert book.latest == {}


def test_the_forecast_of_a_group_that_has_started_is_removed():
    driver, transport = waiting(), Patches()

    async def scenario():
        thread = EngineThread(driver.engine, lambda: driver.now)
        forecasting = Forecasting(thread, transport, lambda: driver.now)
        try:
            await forecasting._renew()
            driver.lose(*members("first"))
            driver.decide()
            await forecasting._renew()
            await forecasting._renew()
        finally:
            await forecasting._process.end()
            thread.close()

    asyncio.run(scenario())
    assert [(name, text is None) for name, text in transport.written] == [("second", False), ("second", True)]


def test_a_renewal_that_fails_does_not_end_forecasting(caplog):
    async def scenario():
        driver, transport = waiting(), Patches()
        thread = EngineThread(driver.engine, lambda: driver.now)
        forecasting = Forecasting(thread, transport, lambda: driver.now)
        has_failed = asyncio.Event()

        async def fail():
            has_failed.set()
            raise ValueError

        forecasting._renew = fail
        running = asyncio.create_task(forecasting.run())
        forecasting.outdate()
        await has_failed.wait()
        await asyncio.sleep(0)
        is_over = running.done()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        thread.close()
        return is_over

    assert not asyncio.run(scenario())
    assert "forecasts were not renewed" in caplog.text


def test_it_renews_when_things_change_and_ends_its_process():
    async def scenario():
        driver, transport = waiting(), Patches()
        thread = EngineThread(driver.engine, lambda: driver.now)
        forecasting = Forecasting(thread, transport, lambda: driver.now)
        running = asyncio.create_task(forecasting.run())
        forecasting.outdate()
        async with asyncio.timeout(60):
            await transport.has_written.wait()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        thread.close()
        return forecasting._process._process

    assert asyncio.run(scenario()) is None
