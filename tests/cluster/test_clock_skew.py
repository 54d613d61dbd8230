"""A candidate whose clock is an hour off leads, is left alone while it does, and is followed like any other."""

import sys
from pathlib import Path

import pytest

from tests.cluster.cluster_api import wait_until
from tests.cluster.gang_load import GangLoad
from tests.cluster.leaders import leader, leaders
from tools.installed_posse import PosseRun, install_posse

pytestmark = pytest.mark.cluster

SKEWED_CLOCK = Path(__file__).with_name("skewed_clock.py")
QUICK_LEASE = {"leaseDuration": "2s", "renewDeadline": "1500ms", "retryPeriod": "300ms"}
TAKE_OVER_SECONDS = 10


@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_who_leads_does_not_depend_on_the_time_of_day(plane, api, seconds):
    installed = install_posse(plane, leaderElection=QUICK_LEASE)
    words = installed.command[installed.command.index("run") :]
    skewed = installed._replace(command=[sys.executable, str(SKEWED_CLOCK), str(seconds), *words])
    off = PosseRun(plane, skewed, f"posse-off-{seconds}")
    right = PosseRun(plane, installed, f"posse-right-{seconds}")
    load = GangLoad(api, 60, prefix=f"clock-{seconds + 3600}")
    plane.run(off)
    assert leader([off]) is off
    plane.run(right)
    right.wait_until_ready()
    # For longer than a lease lasts, whatever time it says it is of.
    arriving = load.arriving(pause_seconds=0.05)
    while arriving.is_alive():
        assert leaders([off, right]) == [off]
    hand_over(off, right)
    off.start()
    off.wait_until_ready()
    hand_over(right, off)
    load.wait_until_complete(60)
    load.check()
    off.stop()


def hand_over(before, after):
    """By dying, so that nothing but the lease tells."""
    before.kill()
    wait_until(lambda: leaders([after]), "another leader", TAKE_OVER_SECONDS)
