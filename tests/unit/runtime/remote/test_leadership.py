import asyncio

import pytest

from posse.configuration.running import LeaseTerms
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import LEASE
from posse.runtime.remote.leadership import Leadership

TERMS = LeaseTerms("posse", "kube-system", duration=15.0, renew_deadline=10.0, retry_period=0.01)


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def lease(lab):
    return lab.find(LEASE, "kube-system", "posse")["spec"]


async def soon(awaitable):
    async with asyncio.timeout(5):
        return await awaitable


async def not_now(leadership):
    """It asks several times and does not get it."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await leadership.acquire()


def test_the_first_who_asks_leads_and_writes(in_lab):
    async def scenario(lab):
        one = Leadership(lab.transport, TERMS, "one", Clock())
        assert not one.is_leading
        with pytest.raises(ApiError, match="not in charge"):
            one.fence()
        await soon(one.acquire())
        one.fence()
        assert one.holder == "one"
        assert lease(lab)["holderIdentity"] == "one"
        assert lease(lab)["leaseDurationSeconds"] == 15

    in_lab(scenario)


def test_another_takes_over_only_after_it_saw_nothing_new_for_as_long_as_the_lease_lasts(in_lab):
    async def scenario(lab):
        clock, other_clock = Clock(), Clock()
        one = Leadership(lab.transport, TERMS, "one", clock)
        two = Leadership(lab.transport, TERMS, "two", other_clock)
        await soon(one.acquire())
        # Clocks may differ by any amount; only how far each has moved counts.
        other_clock.now = 5e6
        await not_now(two)
        other_clock.now += 14.9
        await not_now(two)
        other_clock.now += 0.2
        await soon(two.acquire())
        assert lease(lab)["holderIdentity"] == "two"
        assert lease(lab)["leaseTransitions"] == 1

    in_lab(scenario)


def test_one_that_stands_by_says_for_whom_once(in_lab, caplog):
    caplog.set_level("INFO")

    async def scenario(lab):
        clock = Clock()
        await soon(Leadership(lab.transport, TERMS, "one", clock).acquire())
        await not_now(Leadership(lab.transport, TERMS, "two", clock))

    in_lab(scenario)
    told = [record.getMessage() for record in caplog.records if "standing by" in record.getMessage()]
    assert told == ["standing by: one holds lease kube-system/posse"]


def test_a_leader_stops_before_another_may_begin(in_lab):
    async def scenario(lab):
        clock = Clock()
        one = Leadership(lab.transport, TERMS, "one", clock)
        await soon(one.acquire())
        clock.now += 9.9
        one.fence()
        # It was stopped by a signal, say, and wakes up now: it looks at the clock before it writes.
        clock.now += 0.2
        with pytest.raises(ApiError):
            one.fence()
        await soon(one.keep())
        assert not one.is_leading

    in_lab(scenario)


def test_renewing_goes_on_over_failures_until_the_deadline(in_lab):
    async def scenario(lab):
        clock, failures = Clock(), 0
        one = Leadership(lab.transport, TERMS, "one", clock)
        await soon(one.acquire())
        get = lab.transport.get

        async def failing(kind, namespace, name):
            nonlocal failures
            failures += 1
            clock.now += 1.0
            raise ApiError(503, "Unreachable", "gone")

        lab.transport.get = failing
        await soon(one.keep())
        assert failures >= 9
        lab.transport.get = get

    in_lab(scenario)


def test_one_connection_that_is_dead_without_a_word_does_not_cost_the_lease(in_lab):
    async def scenario(lab):
        terms = LeaseTerms("posse", "kube-system", duration=0.6, renew_deadline=0.4, retry_period=0.01)
        clock, loop = Clock(), asyncio.get_running_loop()
        one = Leadership(lab.transport, terms, "one", clock)
        await soon(one.acquire())
        begun, get = lease(lab)["renewTime"], lab.transport.get

        async def hang(kind, namespace, name):
            lab.transport.get = get
            since = loop.time()
            try:
                await asyncio.Event().wait()
            finally:
                clock.now += loop.time() - since

        lab.transport.get = hang
        keeping = asyncio.create_task(one.keep())
        await lab.until(lambda: keeping.done() or lease(lab)["renewTime"] != begun)
        assert one.is_leading
        keeping.cancel()

    in_lab(scenario)


def test_a_lease_is_never_said_to_last_for_less_than_it_is_held(in_lab):
    async def scenario(lab):
        held = LeaseTerms("posse", "kube-system", duration=2.5, renew_deadline=2.4, retry_period=0.01)
        wanted = LeaseTerms("posse", "kube-system", duration=2.0, renew_deadline=1.5, retry_period=0.01)
        clock = Clock()
        one, two = (
            Leadership(lab.transport, held, "one", clock),
            Leadership(lab.transport, wanted, "two", clock),
        )
        await soon(one.acquire())
        await not_now(two)
        clock.now += 2.3
        one.fence()
        await not_now(two)

    in_lab(scenario)


def test_a_leader_that_sees_another_in_its_place_stops_at_once(in_lab):
    async def scenario(lab):
        one = Leadership(lab.transport, TERMS, "one", Clock())
        await soon(one.acquire())
        found = lab.find(LEASE, "kube-system", "posse")
        usurped = found | {"spec": found["spec"] | {"holderIdentity": "two"}}
        await lab.transport.update(LEASE, "kube-system", "posse", usurped)
        await soon(one.keep())
        assert not one.is_leading
        await one.release()
        assert lease(lab)["holderIdentity"] == "two"

    in_lab(scenario)


def test_a_lease_is_kept_while_it_can_be_renewed(in_lab):
    async def scenario(lab):
        clock = Clock()
        one = Leadership(lab.transport, TERMS, "one", clock)
        await soon(one.acquire())
        begun = lease(lab)
        keeping = asyncio.create_task(one.keep())
        for _ in range(5):
            clock.now += 5.0
            before = lease(lab)["renewTime"]
            await lab.until(lambda before=before: lease(lab)["renewTime"] != before)
        assert one.is_leading
        assert lease(lab)["acquireTime"] == begun["acquireTime"]
        assert lease(lab)["leaseTransitions"] == 0
        keeping.cancel()

    in_lab(scenario)


def test_a_released_lease_is_taken_at_once(in_lab):
    async def scenario(lab):
        clock = Clock()
        one, two = (Leadership(lab.transport, TERMS, name, clock) for name in ("one", "two"))
        await soon(one.acquire())
        await not_now(two)
        await soon(one.release())
        assert not one.is_leading
        await soon(two.acquire())
        assert two.is_leading

    in_lab(scenario)


def test_of_two_who_ask_at_once_one_gets_it(in_lab):
    async def scenario(lab):
        clock = Clock()
        several = [Leadership(lab.transport, TERMS, str(number), clock) for number in range(5)]
        asking = [asyncio.create_task(each.acquire()) for each in several]
        await lab.until(lambda: any(each.is_leading for each in several))
        await asyncio.sleep(0.05)
        assert sum(each.is_leading for each in several) == 1
        for task in asking:
            task.cancel()

    in_lab(scenario)


def test_one_that_takes_a_lease_which_was_free_before_it_read_the_cluster_has_missed_nothing(in_lab):
    async def scenario(lab):
        one, two, three = (
            Leadership(lab.transport, TERMS, name, Clock()) for name in ("one", "two", "three")
        )
        for each in (one, two):
            await each.observe()
        assert not one.is_first_since_observed
        await soon(one.acquire())
        assert one.is_first_since_observed
        await three.observe()
        await one.release()
        # The one has led since they observed it, or did then.
        for late in (two, three):
            await soon(late.acquire())
            assert not late.is_first_since_observed
            await late.release()
        await two.observe()
        await soon(two.acquire())
        assert two.is_first_since_observed

    in_lab(scenario)


def test_one_that_takes_a_lease_which_a_leader_made_anew_may_have_missed_something(in_lab):
    async def scenario(lab):
        one, two = (Leadership(lab.transport, TERMS, name, Clock()) for name in ("one", "two"))
        await soon(one.acquire())
        await lab.transport.delete(LEASE, "kube-system", "posse")
        await two.observe()
        keeping = asyncio.create_task(one.keep())
        await lab.until(lambda: lab.find(LEASE, "kube-system", "posse"))
        keeping.cancel()
        await one.release()
        await soon(two.acquire())
        assert not two.is_first_since_observed

    in_lab(scenario)


def test_a_lease_that_cannot_be_read_counts_as_held(in_lab):
    class Down:
        async def get(self, *_):
            raise ApiError(500, "InternalError", "no luck")

    async def scenario(lab):
        one = Leadership(Down(), TERMS, "one", Clock())
        await one.observe()
        one._transport = lab.transport
        await soon(one.acquire())
        assert not one.is_first_since_observed

    in_lab(scenario)
