"""Who of several schedulers leads, by their own word."""

from tests.cluster.cluster_api import wait_until
from tools.installed_posse import PosseRun


def leaders(replicas: list[PosseRun]) -> list[PosseRun]:
    """Return who says to lead: never two at once.

    They are asked one after the other. If two say so, the first may have stopped before the second began, and is asked again.
    """
    found = [one for one in replicas if is_leading(one)]
    if len(found) > 1:
        found = [one for one in found if is_leading(one)]
    assert len(found) <= 1, [one.name for one in found]
    return found


def is_leading(replica: PosseRun) -> bool:
    lines = replica.page("/metrics").splitlines()
    return any(line.startswith("leader_election_master_status{") and line.endswith(" 1.0") for line in lines)


def leader(replicas: list[PosseRun]) -> PosseRun:
    found: list[PosseRun] = []

    def is_found() -> bool:
        found[:] = leaders(replicas)
        return bool(found)

    wait_until(is_found, "a leader", 60)
    return found[0]
