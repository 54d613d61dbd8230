"""The leader is killed at random, again and again, or wakes up too late: each time another one goes on where it left off.

LEADER_KILLS and LEADER_KILL_SEED change how often, and when.
"""

import os
import random
import statistics
import time

import pytest

from tests.cluster.cluster_api import wait_until
from tests.cluster.gang_load import SIZE, GangLoad
from tests.cluster.leaders import leader, leaders
from tools.installed_posse import PosseRun, install_posse

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1200)]

KILLS = int(os.environ.get("LEADER_KILLS", "12"))
SEED = int(os.environ.get("LEADER_KILL_SEED", "1"))
GANGS = 100
QUICK_LEASE = {"leaseDuration": "2s", "renewDeadline": "1500ms", "retryPeriod": "300ms"}
# How long a leader lives at most: enough to bind some, seldom enough to bind all that waited for it.
LIFE_SECONDS = 0.4


@pytest.fixture(scope="module")
def replicas(plane):
    installed = install_posse(plane, leaderElection=QUICK_LEASE)
    replicas = [PosseRun(plane, installed, f"posse-{number}") for number in range(3)]
    for replica in replicas:
        plane.run(replica)
    for replica in replicas:
        replica.wait_until_ready()
    return replicas


def test_every_gang_completes_however_often_the_leader_is_killed(api, replicas, request, capsys):
    chance = random.Random(SEED)
    load = GangLoad(api, GANGS)
    waiting = list(load.names)
    killed_at, takeovers, half_way = time.monotonic(), [], 0
    for kill in range(KILLS):
        # They wait for the next leader, so that it is killed at work.
        for name in waiting[kill * GANGS // KILLS : (kill + 1) * GANGS // KILLS]:
            load.add(name)
        killed = leader(replicas)
        takeovers.append(time.monotonic() - killed_at)
        time.sleep(chance.uniform(0, LIFE_SECONDS))
        killed.kill()
        killed_at = time.monotonic()
        load.check()
        half_way += sum(count < SIZE for count in load.bound().values())
        killed.start()
    load.wait_until_complete(120)
    load.check()
    for replica in replicas:
        assert "Traceback" not in replica.log.read_text()
    with capsys.disabled():
        request.config.get_terminal_writer().line(
            f"{KILLS} leaders killed during {GANGS} gangs, {half_way} of which were bound half-way then; the next led after "
            f"{statistics.median(takeovers):.1f} s (at most {max(takeovers):.1f} s); all gangs that fit were complete "
            f"{time.monotonic() - killed_at:.1f} s after the last kill"
        )


def test_a_leader_that_wakes_up_when_another_leads_does_no_harm(api, replicas):
    load = GangLoad(api, 60, prefix="late")
    late = leader(replicas)
    arriving = load.arriving(pause_seconds=0.15)
    wait_until(lambda: sum(load.bound().values()), "the first gangs")
    late.pause()
    others = [replica for replica in replicas if replica is not late]
    assert leader(others) is not late
    late.go_on()
    # There is work for both when it wakes up.
    assert arriving.is_alive()
    while arriving.is_alive():
        leaders(replicas)
        load.check()
    load.wait_until_complete(60)
    load.check()
    assert "Traceback" not in late.log.read_text()
