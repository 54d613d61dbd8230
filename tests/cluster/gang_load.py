"""Gangs that arrive while things break, and what must be true of them in the end.

No pod leaves once it is bound here, so that what holds for the end has held all the time: a node that was ever given too
much still has too much, and a member of a gang that may not start is still there to be seen.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable

from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from tests.cluster.cluster_api import ClusterApi, wait_until
from tests.cluster.manifests import gang, node, pod

SIZE = 3
NODE_CPUS = 4
CONFLICT = 409
UNPLACEABLE_CPU = "1000"


class GangLoad:
    """Asks for `total` gangs that just fit on the nodes it makes; every tenth has a member that fits nowhere."""

    def __init__(self, api: ClusterApi, total: int, prefix: str = "gang") -> None:
        self._api = api
        self.names = [f"{prefix}-{number}" for number in range(total)]
        self.hopeless = set(self.names[::10])
        fitting = total - len(self.hopeless)
        self._nodes = [f"{prefix}-node-{number}" for number in range(-(-fitting * SIZE // NODE_CPUS))]
        api.create(*(node(name, cpu=str(NODE_CPUS)) for name in self._nodes))

    def add(self, name: str) -> None:
        """Ask for it until the API server has it, whatever happens to the API server meanwhile."""
        self._insist(gang(name, SIZE))
        for member in range(SIZE):
            is_too_big = name in self.hopeless and member == 0
            cpu = UNPLACEABLE_CPU if is_too_big else "1"
            self._insist(pod(f"{name}-{member}", group=name, scheduler="posse", cpu=cpu))

    def arriving(self, pause_seconds: float) -> threading.Thread:
        """Add all of them from a thread of its own, one after the other."""

        def add_all() -> None:
            for name in self.names:
                self.add(name)
                time.sleep(pause_seconds)

        thread = threading.Thread(target=add_all)
        thread.start()
        return thread

    def bound(self) -> Counter[str]:
        """How many members of each gang have a node."""
        return Counter(item["spec"]["schedulingGroup"]["podGroupName"] for item in self._placed())

    def wait_until_complete(self, seconds: float) -> None:
        wanted = {name: SIZE for name in self.names if name not in self.hopeless}
        wait_until(lambda: self.bound() >= Counter(wanted), "all gangs that can start", seconds)

    def check(self) -> None:
        bound = self.bound()
        assert {name: bound[name] for name in self.hopeless} == dict.fromkeys(self.hopeless, 0)
        used = Counter(item["spec"]["nodeName"] for item in self._placed())
        assert {name: count for name, count in used.items() if count > NODE_CPUS} == {}

    def _placed(self) -> list[dict]:
        return [item for item in self._api.list("Pod") if item["spec"].get("nodeName")]

    def _insist(self, obj: dict) -> None:
        wait_until(
            lambda: _succeeds(lambda: self._api.create(obj)), f"{obj['metadata']['name']} to be taken", 60
        )


def _succeeds(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except ApiException as refusal:
        # It was made, and only the answer was lost.
        return refusal.status == CONFLICT
    except HTTPError:
        return False
    return True
