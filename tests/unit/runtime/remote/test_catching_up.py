"""Whether a scheduler that begins to lead first catches up with what another may have written."""

import pytest

from posse.kinds.registry import LEASE
from posse.runtime.remote.leadership import Leadership
from posse.runtime.scheduling.scheduler import SchedulerLoop
from tests.unit.runtime.remote.test_remote import (
    HELD,
    QUICK,
    configured,
    create_pod,
    found,
    node_of,
    running,
    until,
)

USUAL = {"leaderElect": True}
"""A lease that is free need not be waited for; a busy machine may take longer than the deadlines of QUICK."""
FREE = HELD | {"spec": HELD["spec"] | {"holderIdentity": ""}}


@pytest.fixture
def caught_up(monkeypatch):
    """Grows by one with each catching up."""
    real, calls = SchedulerLoop.catch_up, []

    async def catch_up(loop, ask):
        calls.append(ask)
        await real(loop, ask)

    monkeypatch.setattr(SchedulerLoop, "catch_up", catch_up)
    return calls


def begin(server, election=USUAL):
    """Run a scheduler until it has bound a pod."""
    create_pod(server, "p")

    async def scenario(scheduler):
        await until(lambda: node_of(server, "p"))

    running(server, scenario, config=configured(server, leaderElection=election))


@pytest.mark.parametrize(("lease", "times"), [(None, 0), (FREE, 0), (HELD, 1)], ids=["none", "free", "held"])
def test_one_that_found_the_lease_free_has_nothing_to_catch_up_with(server, caught_up, lease, times):
    if lease is not None:
        server.call(server.service.create, LEASE, "kube-system", lease)
    begin(server, QUICK if lease is HELD else USUAL)
    assert len(caught_up) == times


@pytest.mark.parametrize("lease", [None, FREE], ids=["none", "free"])
def test_a_lease_that_was_held_while_the_cluster_was_read_is_caught_up_with(
    server, caught_up, monkeypatch, lease
):
    acquire = Leadership.acquire

    async def late(leadership):
        """Another has led, and has let go, since the lease was observed."""
        if lease is None:
            server.call(server.service.create, LEASE, "kube-system", FREE)
        else:
            there = found(server, LEASE, "posse", "kube-system")
            led = there | {"spec": there["spec"] | {"leaseTransitions": 4}}
            server.call(server.service.update, LEASE, "kube-system", "posse", led)
        await acquire(leadership)

    monkeypatch.setattr(Leadership, "acquire", late)
    if lease is not None:
        server.call(server.service.create, LEASE, "kube-system", lease)
    begin(server)
    assert len(caught_up) == 1
