"""The LeaderWorkerSet project's own controller, with Posse as scheduler and maker of gangs."""

import pytest

from tests.cluster.cluster_api import wait_until
from tests.neighbours.guide import run_guide
from tools.neighbours.projects import LEADER_WORKER_SET_PROJECT

pytestmark = pytest.mark.cluster

UP = ("--nodes", "4")
PROJECTS = (LEADER_WORKER_SET_PROJECT,)
NOTICES_SECONDS = 60.0


def test_the_guide_goes_as_it_says(up, kubectl):
    """Posse looks for other controllers every 30 s."""
    leaving = "leaving leaderworkersets.leaderworkerset.x-k8s.io to"
    wait_until(lambda: leaving in up.output.read_text(), "a notice", NOTICES_SECONDS)
    told = run_guide("leaderworkerset", kubectl, up.kubeconfig)
    assert told["kubectl get podgroups.scheduling.posse.dev"].count("shared") >= 2
